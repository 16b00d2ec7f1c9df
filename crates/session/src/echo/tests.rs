use rove_units::Seed;

use super::*;

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

#[test]
fn input_is_acknowledged_fifty_milliseconds_after_its_delivery() {
    let mut history = EchoHistory::default();
    assert_eq!(history.poll_timeout(), None);
    history.delivered(StateNum::new(3), ms(10));
    history.delivered(StateNum::new(4), ms(30));
    for (now, moved, acknowledged, wake) in [
        (59, false, 0, Some(60)),
        (60, true, 3, Some(80)),
        (79, false, 3, Some(80)),
        (80, true, 4, None),
        (90, false, 4, None),
    ] {
        assert_eq!(history.advance(ms(now)), moved, "at {now} ms");
        assert_eq!(history.acknowledged(), StateNum::new(acknowledged), "at {now} ms");
        assert_eq!(history.poll_timeout(), wake.map(ms), "at {now} ms");
    }
}

#[test]
fn without_a_wait_input_is_acknowledged_at_its_delivery() {
    let mut history = EchoHistory::default();
    history.set_wait(EchoWait::Nothing);
    for num in 1..=3 {
        history.delivered(StateNum::new(num), ms(num));
        assert_eq!(history.poll_timeout(), Some(ms(num)));
        assert!(history.advance(ms(num)));
        assert_eq!(history.acknowledged(), StateNum::new(num));
    }
}

/// Returns a history with adaptive waits, after echoes with these latencies in milliseconds.
fn answered(latencies: &[u64]) -> EchoHistory {
    let mut history = EchoHistory::default();
    history.set_wait(EchoWait::Adaptive);
    for (latency, second) in latencies.iter().zip(1..) {
        history.delivered(StateNum::new(second), ms(second * 2000));
        history.handle_output(ms(second * 2000 + latency));
    }
    history
}

#[test]
fn a_program_gets_the_time_that_it_takes() {
    for (latencies, delay) in [
        (&[1; 7][..], 50),
        (&[0; 8], 8),
        (&[2; 8], 10),
        (&[3; 8], 12),
        (&[20; 30], 80),
        (&[100; 8], 250),
        (&[200; 8], 250),
        (&[300; 8], 308),
        (&[500; 8], 400),
        // A single slow echo among 16 counts, and is forgotten after 16 quick echoes.
        (&[1, 1, 1, 1, 1, 1, 1, 90], 98),
        (&[90, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], 98),
        (&[90, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], 9),
        // Output more than a second after the key is no echo.
        (&[1, 1, 1, 1, 1, 1, 1, 1, 1001], 9),
    ] {
        let mut history = answered(latencies);
        assert_eq!(history.delay(), Duration::from_millis(delay), "{latencies:?}");
        history.set_wait(EchoWait::Patient);
        let patient = Duration::from_millis(delay).max(ECHO_DELAY);
        assert_eq!(history.delay(), patient, "a stock client gets no ack early");
    }
}

#[test]
fn output_that_never_pauses_is_no_echo() {
    let mut history = answered(&[100; 8]);
    for millis in (20_000..60_000).step_by(49) {
        history.handle_output(ms(millis));
        history.delivered(StateNum::new(millis), ms(millis + 10));
    }
    assert_eq!(history.delay(), USUAL_MAX);
    assert_eq!(history.latency.samples.len(), 8);
}

#[test]
fn a_flood_is_acknowledged_late_rather_than_remembered() {
    for (flood, remembered) in [(HISTORY_MAX, HISTORY_MAX), (HISTORY_MAX + 1, HISTORY_MAX)] {
        let mut history = EchoHistory::default();
        for num in 1..=flood {
            let num = u64::try_from(num).unwrap();
            history.delivered(StateNum::new(num), ms(num));
        }
        assert_eq!(history.deliveries.len(), remembered);
        let last = u64::try_from(flood).unwrap();
        history.advance(ms(last + 49));
        assert!(history.acknowledged() < StateNum::new(last));
        history.advance(ms(last + 50));
        assert_eq!(history.acknowledged(), StateNum::new(last));
    }
}

/// Number of keys that are typed for each row of the table.
const KEYS: u64 = 2000;

/// Maps the number of a key to the time after which a program echoes this key, in milliseconds.
type Program = fn(u64) -> u64;

/// Types keys into a program, every 60 to 300 ms, with half a second more after every eighth key. Returns the share of
/// keys whose ack came ahead of their echo. Also returns, for all other acks, the median and the 90th percentile of
/// their delay after the echo, in ms.
fn typed_at(program: Program, wait: EchoWait) -> (f64, u64, u64) {
    let pause = Seed::new(1).stream("pause");
    let mut history = EchoHistory::default();
    history.set_wait(wait);
    let (mut keys, mut echoes, mut acks) = (Vec::new(), Vec::new(), Vec::new());
    let (mut next_key, mut echoed, mut now) = (0, 0, 0);
    while acks.len() < usize::try_from(KEYS).unwrap() {
        if next_key == now {
            let number = u64::try_from(keys.len()).unwrap();
            next_key += 60 + pause.at(number).below(240) + if number % 8 == 0 { 500 } else { 0 };
            // A program echoes keys in the order in which they were typed.
            echoes.push((now + program(number)).max(echoes.last().copied().unwrap_or(0)));
            keys.push(now);
            history.delivered(StateNum::new(number + 1), ms(now));
        }
        while echoes.get(echoed).is_some_and(|at| *at == now) {
            history.handle_output(ms(now));
            echoed += 1;
        }
        history.advance(ms(now));
        acks.resize(usize::try_from(history.acknowledged().get()).unwrap(), now);
        now += 1;
    }
    let known = 64..acks.len();
    let early = known.clone().filter(|index| acks[*index] < echoes[*index]).count();
    let mut behind: Vec<_> =
        known.clone().filter_map(|index| acks[index].checked_sub(echoes[index])).collect();
    behind.sort_unstable();
    let quantile = |tenths: usize| behind.get(behind.len() * tenths / 10).copied().unwrap_or(0);
    (early as f64 / known.len() as f64, quantile(5), quantile(9))
}

#[test]
fn the_table_of_the_echo_ack() {
    let programs: [(&str, Program); 8] = [
        ("1 ms", |_| 1),
        ("20 ms", |_| 20),
        ("100 ms", |_| 100),
        ("200 ms", |_| 200),
        ("300 ms", |_| 300),
        ("1 ms, one in ten 80", |key| if is_slow(key, 0.1) { 80 } else { 1 }),
        ("10 ms, one in fifty 200", |key| if is_slow(key, 0.02) { 200 } else { 10 }),
        ("1 to 40 ms", |key| 1 + Seed::new(2).stream("latency").at(key).below(40)),
    ];
    let mut table = String::from("| echo after | fixed | at least that | adaptive |\n");
    for (name, program) in programs {
        let waits = [EchoWait::Fixed, EchoWait::Patient, EchoWait::Adaptive].map(|wait| {
            let (early, half, most) = typed_at(program, wait);
            format!("{:.1} %, {half} / {most} ms", early * 100.0)
        });
        table.push_str(&format!("| {name} | {} |\n", waits.join(" | ")));
    }
    insta::assert_snapshot!(table, @"
    | echo after | fixed | at least that | adaptive |
    | 1 ms | 0.0 %, 49 / 49 ms | 0.0 %, 49 / 49 ms | 0.0 %, 8 / 8 ms |
    | 20 ms | 0.0 %, 30 / 30 ms | 0.0 %, 60 / 60 ms | 0.0 %, 60 / 60 ms |
    | 100 ms | 100.0 %, 0 / 0 ms | 0.0 %, 150 / 150 ms | 0.0 %, 150 / 150 ms |
    | 200 ms | 100.0 %, 0 / 0 ms | 0.0 %, 50 / 50 ms | 0.0 %, 50 / 50 ms |
    | 300 ms | 100.0 %, 0 / 0 ms | 0.0 %, 8 / 8 ms | 0.0 %, 8 / 8 ms |
    | 1 ms, one in ten 80 | 8.9 %, 49 / 49 ms | 1.2 %, 87 / 87 ms | 1.2 %, 87 / 87 ms |
    | 10 ms, one in fifty 200 | 2.2 %, 40 / 40 ms | 1.6 %, 64 / 198 ms | 1.6 %, 64 / 198 ms |
    | 1 to 40 ms | 0.0 %, 30 / 45 ms | 0.0 %, 67 / 94 ms | 0.0 %, 67 / 94 ms |
    ");
}

/// Returns whether this key is in the given share of keys, which a program answers slowly.
fn is_slow(key: u64, share: f64) -> bool {
    Seed::new(3).stream("slow").at(key).chance(share)
}
