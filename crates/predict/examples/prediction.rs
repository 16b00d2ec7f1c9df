//! What predicting costs a client: `cargo run --release -p rove-predict --example prediction [ROUNDS]`.
//!
//! A user types a command line on a far host, as the host's echo follows some keys behind. Printed are medians in
//! microseconds of a key with the frame that shows it and of a screen with the frame that judges by it,
//! for each engine; with `--json` those of every round.

use std::collections::VecDeque;

use rove_predict::{Engine, EngineKind, InputNum, Network, Prediction, Preference};
use rove_terminal::{Size, Terminal};
use rove_units::{Duration, Instant};

/// A large window.
const COLUMNS: u16 = 200;
const ROWS: u16 = 60;

/// How many keys are on their way. Chosen: half a second of quick typing.
const LAG: usize = 5;

/// From one key to the next. Chosen: so that the keys on their way are half a second old.
const PACE: Duration = Duration::from_millis(100);

/// The interval between frames of such a path.
const INTERVAL: Duration = Duration::from_millis(250);

/// Keys on a command line; Enter is the last.
const LINE: usize = 100;

/// Keys per round. Chosen: a second or so, and odd, so that there is a median.
const KEYS: usize = 10_001;

/// Rounds unless another number is given.
const ROUNDS: usize = 5;

const ENGINES: [EngineKind; 2] = [EngineKind::Replay, EngineKind::Stock];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let rounds = words.iter().find_map(|word| word.parse().ok()).unwrap_or(ROUNDS);
    let json = words.iter().any(|word| word == "--json");
    let mut found = ENGINES.map(|engine| (engine, [Vec::new(), Vec::new()]));
    for _ in 0..rounds {
        for (engine, found) in &mut found {
            for (figures, figure) in found.iter_mut().zip(typing(*engine)) {
                figures.push(figure);
            }
        }
    }
    for (engine, found) in found {
        for (what, rounds) in ["a key", "a screen"].into_iter().zip(found) {
            let kind = format!("{}, {what}", engine.name());
            if json {
                println!("{{\"kind\":\"{kind}\",\"microseconds\":{rounds:?}}}");
            } else {
                println!("{kind:18}{:8.2} us", median(rounds));
            }
        }
    }
}

/// Returns the median microseconds of a key and of a screen.
fn typing(engine: EngineKind) -> [f64; 2] {
    let size = Size::new(COLUMNS, ROWS).expect("a screen may have this size");
    let prediction = Prediction { engine, preference: Preference::Always, overwrite: false };
    let mut engine = Engine::new(prediction, size);
    let mut host = full_terminal(size);
    let mut screen = host.snapshot();
    engine.frame(Instant::from_millis(0), &screen);
    let mut now = Instant::from_millis(1000);
    let (mut on_the_way, mut sent, mut answered) = (VecDeque::new(), 0, 0);
    let (mut keys, mut screens, mut predicted) = (Vec::new(), Vec::new(), 0);
    for number in 1..=KEYS {
        now += PACE;
        let key = if number.is_multiple_of(LINE) { b'\r' } else { b'k' };
        on_the_way.push_back(key);
        let (frame, cost) = timed(|| {
            engine.handle_keys(now, InputNum::new(sent), &[key]);
            engine.frame(now, &screen)
        });
        keys.push(cost);
        predicted += usize::from(frame != screen);
        sent += 1;
        // Behind Enter the user reads.
        let lag = if key == b'\r' { 0 } else { LAG };
        while on_the_way.len() > lag {
            match on_the_way.pop_front() {
                Some(b'\r') => host.write(b"\r\n$ "),
                Some(key) => host.write(&[key]),
                None => {}
            }
            answered += 1;
            screen = host.snapshot();
            now += Duration::from_millis(1);
            let echo_ack = InputNum::new(answered);
            let network = Network { echo_ack, arrived: echo_ack, send_interval: INTERVAL };
            let (_frame, cost) = timed(|| {
                engine.handle_network(network);
                engine.frame(now, &screen)
            });
            screens.push(cost);
        }
    }
    assert!(predicted > KEYS / 2, "{predicted} of {KEYS} keys were shown ahead");
    [median(keys), median(screens)]
}

/// Returns what some work results in, and its microseconds.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
    let start = std::time::Instant::now();
    let result = work();
    (result, start.elapsed().as_secs_f64() * 1e6)
}

/// Returns a terminal full of text in some colours, the cursor behind a prompt.
fn full_terminal(size: Size) -> Terminal {
    let mut terminal = Terminal::host(size);
    for row in 0..ROWS {
        let color = 31 + row % 7;
        let line = format!("\x1b[{color}mline {row}\x1b[m {}\r\n", "of some text ".repeat(14));
        terminal.write(line.as_bytes());
    }
    terminal.write(b"$ ");
    terminal
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
