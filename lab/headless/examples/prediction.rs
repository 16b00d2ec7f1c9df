//! The client's cost of predictions, for `cargo xtask bench prediction`.
//!
//! A user types on a far host, which answers some keys later. The program prints two medians in microseconds for each
//! engine and each round, as JSON. The first is the time of a key and the frame that shows it. The second is the time
//! of a screen and the frame after it. The scenarios are a command line that is a few keys ahead, and the most
//! expensive cases.

mod measure;

use std::collections::VecDeque;

use measure::{full_terminal, median, print, rounds, timed};
use rove_predict::{MakeEngine, Network, Prediction, Preference};
use rove_terminal::InputNum;
use rove_units::{Duration, Instant};

/// Time between two keys. Chosen: with five keys on their way, the oldest is then half a second old.
const PACE: Duration = Duration::from_millis(100);

/// The interval between a server's frames on such a path.
const INTERVAL: Duration = Duration::from_millis(250);

const ENGINES: [(&str, Option<MakeEngine>); 2] =
    [("replay", None), ("stock", Some(rove_stock_predict::engine))];

/// The behaviour of a user and a program.
struct Scenario {
    /// The names of the two measured events: a key, and a screen that answers keys.
    names: [&'static str; 2],
    /// The number of keys that are on their way to the host.
    ahead: usize,
    /// The number of keys that a screen answers.
    at_once: usize,
    /// Keys in a round. Chosen: about a second, and an odd number, so that the median is a key's time.
    keys: usize,
    /// The program's first output.
    start: &'static str,
    /// Returns the bytes of the read with the given number from the user's terminal.
    key: fn(usize) -> String,
    /// Returns the program's output in answer to the bytes of a read.
    answer: fn(&str) -> String,
    /// Whether the engine shows most keys before their answers.
    is_shown: bool,
}

/// A quick user at a shell's prompt is half a second ahead of the answers.
const QUICK: Scenario = Scenario {
    names: ["a key", "a screen"],
    ahead: 5,
    at_once: 1,
    keys: 10_001,
    start: "$ ",
    key: |number| line_key(number, 100),
    answer: echo,
    is_shown: true,
};

const SCENARIOS: [Scenario; 4] = [
    QUICK,
    Scenario {
        names: ["a key behind 100", "a screen before 100"],
        ahead: 100,
        keys: 2_001,
        key: |number| line_key(number, 190),
        ..QUICK
    },
    // A paste with as many characters as fit on the line.
    Scenario {
        names: ["a paste of 190", "a screen with 190"],
        ahead: 0,
        at_once: 1,
        keys: 1_001,
        start: "\x1b[?2004h$ ",
        key: |number| match number % 2 {
            0 => "\r".into(),
            _ => format!("\x1b[200~{}\x1b[201~", "some text ".repeat(19)),
        },
        answer: |key| echo(key.trim_start_matches("\x1b[200~").trim_end_matches("\x1b[201~")),
        is_shown: false,
    },
    // The program uses the arrow keys in its own way. It gets no time to answer, and then answers many keys at once.
    Scenario {
        names: ["an unknown key", "a screen that answers 60"],
        ahead: 0,
        at_once: 60,
        keys: 2_001,
        start: "\x1b[?1049h\x1b[30;50H",
        key: |number| ["\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"][number / 3 % 4].into(),
        answer: |_| "\x1b[31;3H\x1b[2P".into(),
        is_shown: false,
    },
];

/// Returns the key with the given number. Each line has `length` keys and ends with Enter.
fn line_key(number: usize, length: usize) -> String {
    let words = "git commit --message 'say what it does' src/engine.rs | head -n 20; ";
    match number % length {
        0 => "\r".into(),
        index => words.chars().cycle().skip(index - 1).take(1).collect(),
    }
}

/// Returns a shell's echo of a key.
fn echo(key: &str) -> String {
    key.replace('\r', "\r\n$ ")
}

fn main() {
    for scenario in SCENARIOS {
        for (name, engine) in ENGINES {
            let mut found = [Vec::new(), Vec::new()];
            for _ in 0..rounds() {
                for (figures, figure) in found.iter_mut().zip(play(engine, &scenario)) {
                    figures.push(figure);
                }
            }
            for (what, rounds) in scenario.names.into_iter().zip(found) {
                print(&format!("{name}, {what}"), &rounds);
            }
        }
    }
}

/// Returns the median microseconds of a key and of a screen with the given engine.
fn play(engine: Option<MakeEngine>, scenario: &Scenario) -> [f64; 2] {
    let mut host = full_terminal();
    let prediction = Prediction { engine, preference: Preference::Always, ..Prediction::default() };
    let mut engine = rove_predict::engine(prediction, host.snapshot().size());
    host.write(scenario.start.as_bytes());
    let mut screen = host.snapshot();
    engine.frame(Instant::from_millis(0), &screen);
    let mut now = Instant::from_millis(1000);
    let (mut on_the_way, mut sent, mut answered) = (VecDeque::new(), 0, 0);
    let (mut keys, mut screens, mut predicted) = (Vec::new(), Vec::new(), 0);
    for number in 1..=scenario.keys {
        now += PACE;
        let key = (scenario.key)(number);
        let (frame, cost) = timed(|| {
            engine.handle_keys(now, InputNum::new(sent), key.as_bytes());
            engine.frame(now, &screen)
        });
        if on_the_way.len() >= scenario.ahead && key != "\r" {
            keys.push(cost);
        }
        predicted += usize::from(frame != screen);
        sent += 1;
        // After Enter, the user waits for the answer, so that no other key is on its way.
        let (ahead, at_once) = match key.as_str() {
            "\r" => (0, 1),
            _ => (scenario.ahead, scenario.at_once),
        };
        on_the_way.push_back(key);
        while on_the_way.len() >= ahead + at_once {
            for key in on_the_way.drain(..at_once) {
                host.write((scenario.answer)(&key).as_bytes());
                answered += 1;
            }
            screen = host.snapshot();
            now += Duration::from_millis(1);
            let echo_ack = InputNum::new(answered);
            let network =
                Network { echo_ack, arrived: echo_ack, send_interval: INTERVAL, srtt: None };
            let (_frame, cost) = timed(|| {
                engine.handle_network(network);
                engine.frame(now, &screen)
            });
            if on_the_way.len() >= scenario.ahead {
                screens.push(cost);
            }
        }
    }
    let is_shown = predicted > scenario.keys / 3;
    assert!(is_shown || !scenario.is_shown, "{predicted} of {} were shown ahead", scenario.keys);
    [median(keys), median(screens)]
}
