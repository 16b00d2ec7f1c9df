//! The cost of a frame at a server: `cargo run --release -p rove-session --example frame [ROUNDS]`.
//!
//! A frame is a snapshot of the screen and its difference from the one before, as the server makes them. The program
//! prints medians in microseconds, and with `--json` those of every round.

use std::hint::black_box;

use rove_session::HostScreen;
use rove_ssp::{Capabilities, Object, StateNum};
use rove_terminal::{Size, Terminal};

/// A large window.
const COLUMNS: u16 = 200;
const ROWS: u16 = 60;

/// Frames per round. Chosen: a tenth of a second or so, and odd, so that there is a median.
const FRAMES: usize = 10_001;

/// Rounds unless another number is given.
const ROUNDS: usize = 5;

/// The change of the screen between two frames.
type Change = fn(&mut Terminal, frame: usize);

const KINDS: [(&str, Change); 3] =
    [("no change", |_, _| {}), ("one key", type_key), ("a line scrolls", scroll)];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let rounds = words.iter().find_map(|word| word.parse().ok()).unwrap_or(ROUNDS);
    let json = words.iter().any(|word| word == "--json");
    let mut found = KINDS.map(|_| Vec::new());
    for _ in 0..rounds {
        for ((_, change), found) in KINDS.iter().zip(&mut found) {
            found.push(microseconds(*change));
        }
    }
    for ((kind, _), rounds) in KINDS.iter().zip(found) {
        if json {
            println!("{{\"kind\":\"{kind}\",\"microseconds\":{rounds:?}}}");
        } else {
            println!("{kind:16}{:8.2} us", median(rounds));
        }
    }
}

/// Returns the median time of a frame with its change.
fn microseconds(change: Change) -> f64 {
    let mut terminal = full_terminal();
    let mut shown = published(&terminal);
    let times = (0..FRAMES).map(|frame| {
        #[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
        let start = std::time::Instant::now();
        change(&mut terminal, frame);
        let newest = published(&terminal);
        black_box(newest.diff_from(&shown, Capabilities::empty()));
        shown = newest;
        start.elapsed().as_secs_f64() * 1e6
    });
    median(times.collect())
}

/// Returns a terminal full of text in some colours, the cursor after a prompt.
fn full_terminal() -> Terminal {
    let size = Size::new(COLUMNS, ROWS).expect("a screen may have this size");
    let mut terminal = Terminal::host(size);
    for row in 0..ROWS {
        let color = 31 + row % 7;
        let line = format!("\x1b[{color}mline {row}\x1b[m {}\r\n", "of some text ".repeat(14));
        terminal.write(line.as_bytes());
    }
    terminal.write(b"$ ");
    terminal
}

fn published(terminal: &Terminal) -> HostScreen {
    HostScreen::published(terminal.snapshot(), StateNum::INITIAL)
}

/// Echoes a key at the end of a command line, which begins again when it is full.
fn type_key(terminal: &mut Terminal, frame: usize) {
    if frame.is_multiple_of(usize::from(COLUMNS) / 2) {
        terminal.write(b"\r\x1b[K$ ");
    }
    terminal.write(if frame.is_multiple_of(2) { b"k" } else { b"e" });
}

fn scroll(terminal: &mut Terminal, _frame: usize) {
    terminal.write(b"\r\none more line of output");
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
