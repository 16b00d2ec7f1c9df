//! The cost of a frame at a server, for `cargo xtask bench frame`.
//!
//! A frame is a snapshot of the screen and its difference from the previous snapshot, as the server makes them. The
//! program prints each round's median in microseconds, as JSON.

mod measure;

use std::hint::black_box;

use measure::{COLUMNS, full_terminal, median, print, rounds, timed};
use rove_session::HostScreen;
use rove_ssp::{Capabilities, Object, StateNum};
use rove_terminal::Terminal;

/// Frames in a round. Chosen: about a tenth of a second, and an odd number, so that the median is a frame's time.
const FRAMES: usize = 10_001;

/// A function that changes the screen between two frames. It gets the next frame's number.
type Change = fn(&mut Terminal, frame: usize);

const KINDS: [(&str, Change); 3] =
    [("no change", |_, _| {}), ("one key", type_key), ("a line scrolls", scroll)];

fn main() {
    let mut found = KINDS.map(|_| Vec::new());
    for _ in 0..rounds() {
        for ((_, change), found) in KINDS.iter().zip(&mut found) {
            found.push(microseconds(*change));
        }
    }
    for ((kind, _), rounds) in KINDS.iter().zip(found) {
        print(kind, &rounds);
    }
}

/// Returns the median time of a frame after `change`, in microseconds.
fn microseconds(change: Change) -> f64 {
    let mut terminal = prompting_terminal();
    let mut shown = published(&terminal);
    let times = (0..FRAMES).map(|frame| {
        let ((), time) = timed(|| {
            change(&mut terminal, frame);
            let newest = published(&terminal);
            black_box(newest.diff_from(&shown, Capabilities::empty()));
            shown = newest;
        });
        time
    });
    median(times.collect())
}

/// Returns a terminal full of text, with the cursor after a prompt.
fn prompting_terminal() -> Terminal {
    let mut terminal = full_terminal();
    terminal.write(b"$ ");
    terminal
}

fn published(terminal: &Terminal) -> HostScreen {
    HostScreen::published(terminal.snapshot(), StateNum::INITIAL)
}

/// Echoes a key at the end of a command line. Clears the line when it is half full.
fn type_key(terminal: &mut Terminal, frame: usize) {
    if frame.is_multiple_of(usize::from(COLUMNS) / 2) {
        terminal.write(b"\r\x1b[K$ ");
    }
    terminal.write(if frame.is_multiple_of(2) { b"k" } else { b"e" });
}

fn scroll(terminal: &mut Terminal, _frame: usize) {
    terminal.write(b"\r\none more line of output");
}
