//! Compares the model with known links and emulators. It compares traces to the millisecond, jitter and loss to the
//! statistics of their distributions, token buckets to the byte.

use rove_link::{
    CoDelConfig, Discipline, Distribution, DropCause, EventKind, Link, LinkConfig, Netem, Order,
    Schedule, Steps, Synthetic, Trace,
};
use rove_units::{BitRate, Bytes, Duration, Instant, Seed};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn link(config: impl Into<Steps>) -> Link<Vec<u8>> {
    Link::new(config, Seed::new(1).stream("link"))
}

fn trace(text: &str) -> Trace {
    text.parse().expect("a trace")
}

fn scheduled(trace: Trace) -> LinkConfig {
    LinkConfig { schedule: Some(Schedule::new(trace)), ..LinkConfig::default() }
}

fn departures(link: &mut Link<Vec<u8>>, until: Instant) -> Vec<Instant> {
    core::iter::from_fn(|| link.poll_packet(until)).map(|(time, _)| time).collect()
}

/// Keeps full packets waiting in a link until `until`, and returns when each came out.
fn saturate(config: &LinkConfig, until: Instant) -> Vec<Instant> {
    let mut link = link(config.clone());
    let mut out = Vec::new();
    let mut now = Instant::ZERO;
    while now <= until {
        while link.inside() < 100 {
            link.handle_packet(now, vec![0; 1_500]);
        }
        now += ms(1);
        out.extend(departures(&mut link, now.min(until)));
    }
    out
}

#[test]
fn a_packet_departs_each_millisecond_and_waits_for_those_before_it() {
    let mut link = link(scheduled(trace("1")));
    let mut entries = Vec::new();
    for half in 0..2_000_u64 {
        let now = Instant::from_nanos(half * 500_000);
        link.handle_packet(now, vec![0; 1_500]);
        entries.push(now);
    }
    let times = departures(&mut link, at(10_000));
    assert_eq!(times, (1..=2_000).map(at).collect::<Vec<_>>());
    for (number, (time, entry)) in (0_u64..).zip(times.iter().zip(&entries)) {
        // The first packet waits a millisecond, and each later packet half a millisecond longer.
        let waited = time.saturating_since(*entry);
        assert_eq!(waited, ms(1) + Duration::from_micros(500) * u32::try_from(number).unwrap());
    }
}

#[test]
fn saturated_departures_are_the_trace_line_by_line_over_two_laps() {
    let model = Synthetic { length: Duration::from_secs(20), ..Synthetic::default() };
    let trace = model.trace(Seed::new(5).stream("trace")).expect("a short trace");
    let lap: Vec<Duration> = trace.times().collect();
    let period = trace.period();
    // Nothing can arrive before the opportunities of the first instant.
    let both = lap.iter().copied().chain(lap.iter().map(|time| *time + period));
    let expected: Vec<Instant> =
        both.map(|time| Instant::ZERO + time).filter(|time| *time > Instant::ZERO).collect();
    assert_eq!(saturate(&scheduled(trace), Instant::ZERO + period * 2), expected);
}

#[test]
fn an_opportunity_with_packet_information_carries_one_full_packet_and_one_without_it_less() {
    let with = LinkConfig {
        schedule: Some(Schedule { opportunity: Bytes::new(1_504), ..Schedule::new(trace("1")) }),
        overhead: Bytes::new(4),
        ..LinkConfig::default()
    };
    assert_eq!(saturate(&with, at(1_000)).len(), 1_000);
    let without = LinkConfig { overhead: Bytes::new(4), ..scheduled(trace("1")) };
    // An opportunity carries 1500 of a packet's 1504 bytes. So 1000 opportunities carry 997 packets.
    assert_eq!(saturate(&without, at(1_000)).len(), 997);
}

#[test]
fn a_trace_that_is_played_once_ends() {
    let schedule = Schedule { repeats: false, ..Schedule::new(trace("1\n3")) };
    let config = LinkConfig { schedule: Some(schedule), ..LinkConfig::default() };
    assert_eq!(saturate(&config, at(100)), [at(1), at(3)]);
    let mut link = link(config);
    link.handle_packet(at(5), vec![0]);
    assert_eq!((link.poll_timeout(), link.inside()), (None, 1));
}

#[test]
fn normal_jitter_reorders_as_often_as_two_packets_trade_places() {
    let (spacing, jitter) = (ms(10), ms(10));
    let config = LinkConfig {
        jitter,
        jitter_distribution: Distribution::Normal,
        reorder: true,
        ..LinkConfig::lossless(ms(100))
    };
    let mut link = link(config);
    let mut releases = vec![Instant::ZERO; 100_000];
    for number in 0..100_000_u32 {
        link.handle_packet(Instant::ZERO + spacing * number, number.to_be_bytes().to_vec());
    }
    while let Some((time, packet)) = link.poll_packet(Instant::FAR_FUTURE) {
        let number = u32::from_be_bytes(packet.try_into().expect("four bytes"));
        releases[usize::try_from(number).expect("fits")] = time;
    }
    let traded = releases.windows(2).map(|pair| u32::from(pair[0] > pair[1])).sum::<u32>();
    // P(z1 - z2 > 1) of two standard normal numbers: 1 - Phi(1 / sqrt 2) = 0.2398.
    let share = f64::from(traded) / 1e5;
    assert!((share - 0.2398).abs() < 0.006, "{share} of neighbours trade places");
    assert_eq!(link.stats().dropped(), 0);
}

#[test]
fn a_line_of_netem_holds_a_thousand_packets_whether_or_not_they_are_taken_out() {
    let config = LinkConfig::from(Netem { delay: ms(100), ..Netem::default() });
    for polls in [false, true] {
        let mut link = link(config.clone());
        for _ in 0..1_001 {
            link.handle_packet(at(0), vec![0]);
        }
        assert_eq!(link.stats().dropped_by(DropCause::LineFull), 1);
        if polls {
            assert_eq!(departures(&mut link, at(100)).len(), 1_000);
        }
        for _ in 0..1_001 {
            link.handle_packet(at(100), vec![0]);
        }
        assert_eq!(link.stats().dropped_by(DropCause::LineFull), 2, "polled: {polls}");
    }
}

#[test]
fn a_token_bucket_passes_its_burst_and_then_its_rate() {
    let config = LinkConfig {
        rate: BitRate::from_bits_per_second(8_000_000),
        burst: Some(Bytes::new(10_000)),
        ..LinkConfig::default()
    };
    let mut link = link(config);
    // A second of idle time adds nothing to a full bucket.
    for _ in 0..100 {
        link.handle_packet(at(1_000), vec![0; 1_000]);
    }
    let times = departures(&mut link, at(5_000));
    let expected = (0..100_u64).map(|number| at(1_000 + number.saturating_sub(9)));
    assert_eq!(times, expected.collect::<Vec<_>>());
    link.handle_packet(at(6_000), vec![0; 10_001]);
    assert_eq!((link.poll_timeout(), link.stats().dropped_by(DropCause::TooLarge)), (None, 1));
}

#[test]
fn a_step_holds_for_packets_after_it_and_caps_the_tokens() {
    let step = |delay, burst| LinkConfig {
        order: Order::LossDelayQueue,
        delay: ms(delay),
        rate: BitRate::from_bits_per_second(8_000),
        burst: Some(Bytes::new(burst)),
        ..LinkConfig::default()
    };
    let steps = Steps::new([(ms(100), step(50, 1_000)), (ms(0), step(10, 200))]).expect("two");
    let mut link = link(steps);
    // The first packet keeps its release at 149 ms. The next one has a shorter delay, but may not overtake.
    link.handle_packet(at(99), vec![1; 100]);
    link.handle_packet(at(100), vec![2; 100]);
    for _ in 0..2 {
        link.handle_packet(at(120), vec![3; 100]);
    }
    let out: Vec<(u64, u8)> = core::iter::from_fn(|| link.poll_packet(at(9_999)))
        .map(|(time, packet)| (time.as_millis(), packet[0]))
        .collect();
    // All packets wait until 149 ms. The 200 tokens let two pass. The others wait for a byte's token each millisecond.
    assert_eq!(out, [(149, 1), (149, 2), (249, 3), (349, 3)]);
}

#[test]
fn codel_holds_a_standing_queue_near_its_target() {
    // The flow reacts like TCP: it halves its window after a drop, and adds a packet each round trip.
    let standing = |queue| {
        let config = LinkConfig {
            queue,
            rate: BitRate::from_bits_per_second(12_000_000),
            ..LinkConfig::lossless(ms(20))
        };
        let mut link = link(config);
        let (mut window, mut now, mut waits) = (10.0_f64, Instant::ZERO, Vec::new());
        let (mut drops, mut last_cut) = (0, Instant::ZERO);
        link.record_events();
        while now < at(30_000) {
            while f64::from(u32::try_from(link.inside()).expect("few")) < window {
                link.handle_packet(now, vec![0; 1_500]);
            }
            now = link.poll_timeout().expect("packets are inside");
            while link.poll_packet(now).is_some() {
                window += 1.0 / window;
            }
            while let Some(event) = link.poll_event(now) {
                if let (EventKind::Departed { waited, .. }, true) = (event.kind, now > at(10_000)) {
                    waits.push(waited);
                }
            }
            let dropped = link.stats().dropped();
            if dropped > drops && now.saturating_since(last_cut) > ms(40) {
                (window, last_cut) = ((window / 2.0).max(2.0), now);
            }
            drops = dropped;
        }
        waits.sort();
        (waits[waits.len() * 95 / 100], waits.len())
    };
    let (wait, sent) = standing(Discipline::CoDel(CoDelConfig::default()));
    assert!(wait < ms(30), "95 % wait at most {wait:?}");
    assert!(sent > 18_000, "{sent} of 20000 packets in 20 s");
    let (wait, _) = standing(Discipline::DropTail);
    assert!(wait > ms(100), "an infinite queue grows: {wait:?}");
}

#[test]
fn the_log_has_every_opportunity_used_or_not() {
    let mut link = link(LinkConfig {
        schedule: Some(Schedule {
            opportunity: Bytes::new(1_504),
            ..Schedule::new(trace("0\n2\n5"))
        }),
        overhead: Bytes::new(4),
        ..LinkConfig::default()
    });
    link.record_events();
    link.handle_packet(at(1), vec![0; 100]);
    link.handle_packet(at(5), vec![0; 1_500]);
    let log: Vec<String> = core::iter::from_fn(|| link.poll_event(at(10)))
        .filter_map(|event| event.mahimahi_line(at(0)))
        .collect();
    let before = ["0 # 1504", "1 + 104", "2 # 1504", "2 - 104 1", "5 # 1504", "5 # 1504"];
    let after = ["5 + 1504", "7 # 1504", "7 - 1504 2", "10 # 1504", "10 # 1504"];
    assert_eq!(log, [before.as_slice(), &after].concat());
}
