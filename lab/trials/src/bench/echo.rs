//! The time from a key to its echo in a session on this computer.

use std::path::Path;

use anyhow::Result;
use rove_rig::clock;
use rove_rig::scratch::Scratch;
use rove_rig::session::{Client, Server};
use rove_rig::system::System;
use rove_rig::terminal::Terminal;
use rove_rig::window::{Observed, Window};
use rove_runs::statistics as stats;
use rove_terminal::Size;
use rove_units::{Duration, Seed, Stream};

use super::report::{Line, Target};
use super::turns::Bench;

/// A program that echoes keys itself, so that the terminal's line discipline plays no part.
pub(super) const ECHO: [&str; 3] = ["sh", "-c", "stty raw -echo; printf ready; exec cat"];
/// A key that is in no control sequence of a frame.
const KEY: &str = "#";
/// Keys per turn. Chosen: ten of them are slower than the ninth decile.
const KEYS: u64 = 100;
/// Least and most milliseconds from a key's echo to the next key. Chosen: the pauses of a fast typist. The random times
/// keep step with no timer of either program.
const PAUSE_MILLIS: [u64; 2] = [60, 160];

/// Measures sessions of both systems.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Line>> {
    let turns =
        bench.compare("keys", |system| type_keys([system; 2], Scratch::create()?.folder()))?;
    let line = |what: &str, percent| {
        Line::of(what, "ms", &turns, |waits| stats::quantile(waits, percent))
            .target(Target::RatioAtMost(1.0))
    };
    Ok(vec![line("a key's echo, median", 50), line("a key's echo, nine in ten within", 90)])
}

/// Returns the milliseconds from each key to its echo, with the server of `far` and the client of `near`.
pub(super) fn type_keys([far, near]: [&System; 2], home: &Path) -> Result<Vec<f64>> {
    let server = Server::start(far, home, &ECHO)?;
    let mut window = Window::open(Size::DEFAULT)?;
    let _client = Client::start(near, &server, home, &window.terminal)?;
    wait_until_ready(&mut window)?;
    let chance = Seed::new(1).stream("keys");
    let press = |number| {
        pause(&mut window, &chance, number, PAUSE_MILLIS)?;
        press(&mut window.terminal)
    };
    (0..KEYS).map(press).collect()
}

/// Waits until the window shows the word of [`ECHO`].
pub(super) fn wait_until_ready(window: &mut Window) -> Result<()> {
    // Stock Mosh leaves the first row empty, so the word may be in the second row.
    window.wait_for("the program", |screen| (0..2).any(|row| screen.row_text(row) == "ready"))
}

/// Waits for a random time between `least` and `most` milliseconds, and meanwhile reads the window's output.
pub(super) fn pause(
    window: &mut Window,
    chance: &Stream,
    number: u64,
    [least, most]: [u64; 2],
) -> Result<()> {
    let pause = Duration::from_millis(least + chance.at(number).below(most - least));
    window.watch(clock::now() + pause)
}

/// Types [`KEY`]. Returns the milliseconds until its echo.
pub(super) fn press(terminal: &mut Terminal) -> Result<f64> {
    let start = clock::now();
    terminal.send(KEY.as_bytes())?;
    terminal.read_past(KEY)?;
    Ok(clock::seconds_since(start) * 1e3)
}
