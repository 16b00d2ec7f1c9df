//! Many sessions: one after the other, and many at the same time.

use anyhow::Result;
use rove_rig::scratch::Scratch;
use rove_rig::session::{Client, Server};
use rove_rig::system::System;
use rove_rig::terminal::Terminal;
use rove_rig::{clock, process};
use rove_terminal::Size;

use super::report::{Line, Target};
use super::turns::Bench;

/// Sessions that are opened and closed one after the other.
const IN_A_ROW: u32 = 100;
/// Sessions that idle at the same time.
const AT_ONCE: u32 = 200;
/// A program that prints a word and waits until its input ends.
const WAITING: [&str; 3] = ["sh", "-c", "printf ready; exec cat"];

/// Measures sessions of both systems. Fails if a session fails.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Line>> {
    let rows = bench.compare("100 sessions in a row", in_a_row)?;
    let groups = bench.compare("200 sessions at once", at_once)?;
    Ok(vec![
        Line::of("100 sessions opened and closed in a row", "s", &rows, |seconds| *seconds)
            .target(Target::RatioAtMost(1.0)),
        Line::of("200 idle sessions at once, memory of a server", "MB", &groups, |it| it[0]),
        Line::of("200 idle sessions at once, memory of a client", "MB", &groups, |it| it[1]),
    ])
}

/// Returns the seconds that all sessions took.
fn in_a_row(system: &System) -> Result<f64> {
    let scratch = Scratch::create()?;
    let start = clock::now();
    for _ in 0..IN_A_ROW {
        let server = Server::start(system, scratch.folder(), &["printf", "done\\n"])?;
        let mut terminal = Terminal::open(Size::DEFAULT)?;
        let client = Client::start(system, &server, scratch.folder(), &terminal)?;
        client.wait(&mut terminal)?;
    }
    Ok(clock::seconds_since(start))
}

/// Returns the mean memory of a server and of a client, in megabytes. Memory that several processes share counts in
/// parts, a part for each process.
fn at_once(system: &System) -> Result<[f64; 2]> {
    let scratch = Scratch::create()?;
    let mut sessions = Vec::new();
    for _ in 0..AT_ONCE {
        let server = Server::start(system, scratch.folder(), &WAITING)?;
        let mut terminal = Terminal::open(Size::DEFAULT)?;
        let client = Client::start(system, &server, scratch.folder(), &terminal)?;
        terminal.read_past("ready")?;
        sessions.push((server, terminal, client));
    }
    let mut sums = [0.0; 2];
    for (server, _, client) in &sessions {
        sums[0] += process::share_megabytes(server.process.pid())?;
        sums[1] += process::share_megabytes(client.pid())?;
    }
    for (_server, mut terminal, client) in sessions {
        terminal.send(b"\x04")?;
        client.wait(&mut terminal)?;
    }
    Ok(sums.map(|sum| sum / f64::from(AT_ONCE)))
}
