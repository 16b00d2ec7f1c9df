//! 50 MB of output through a session: processor time, time and memory.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use rove_rig::clock;
use rove_rig::load::{Flood, Load, OVER, READY};
use rove_rig::process::Process;
use rove_rig::scratch::Scratch;
use rove_rig::session::{Client, Server, in_known_environment};
use rove_rig::system::System;
use rove_rig::terminal::Terminal;
use rove_runs::statistics as stats;
use rove_terminal::Size;
use rustix::process::Signal;

use super::echo;
use super::report::{Line, Target};
use super::turns::Bench;

/// Bytes of a flood. Chosen: enough to keep a stock server busy for seconds.
const BYTES: usize = 50_000_000;

/// Largest ratio of a cost with a record to the cost without. Chosen: no user notices less, and runs differ by less.
const NOTICEABLE: f64 = 1.10;

/// The cost of a flood: seconds of processor time, seconds in all, and peaks of memory in megabytes.
#[derive(Clone, Copy, Debug)]
struct Cost {
    server_cpu: f64,
    client_cpu: f64,
    seconds: f64,
    server_megabytes: f64,
    client_megabytes: f64,
}

/// Measures both floods. Measures the plain flood on a pty without an emulator, too.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Line>> {
    let (plain, bare) = pour(bench, "plain flood", Load::Plain)?;
    let (escapes, _) = pour(bench, "flood of escapes", Load::Escapes)?;
    // Each flood has its own session. The larger of both peaks of memory counts.
    let peak: [Vec<Cost>; 2] = [0, 1].map(|system: usize| {
        plain[system].iter().zip(&escapes[system]).map(|(one, other)| one.larger(other)).collect()
    });
    let seconds: fn(&Cost) -> f64 = |cost| cost.seconds;
    let server_cpu: fn(&Cost) -> f64 = |cost| cost.server_cpu;
    Ok(vec![
        Line::of("plain flood, server CPU", "s", &plain, server_cpu)
            .target(Target::RatioAtMost(0.20)),
        Line::of("flood of escapes, server CPU", "s", &escapes, server_cpu)
            .target(Target::RatioAtMost(0.25)),
        Line::of("plain flood, until the prompt", "s", &plain, seconds)
            .beside("bare pty", bare)
            .target(Target::RatioAtMost(1.35)),
        Line::of("plain flood, until the prompt", "s", &plain, seconds),
        Line::of("flood of escapes, until the prompt", "s", &escapes, seconds),
        Line::of("peak memory, server", "MB", &peak, |cost| cost.server_megabytes)
            .target(Target::AtMost(7.5)),
        Line::of("peak memory, client", "MB", &peak, |cost| cost.client_megabytes)
            .target(Target::AtMost(9.0)),
    ])
}

/// Measures rove's client with stock Mosh's server, with and without a record for `rove resume`. It holds every state.
pub(super) fn measure_record(bench: &Bench) -> Result<Vec<Line>> {
    let mut turns = [Vec::new(), Vec::new()];
    for round in 1..=bench.rounds {
        for (keeps, turns) in turns.iter_mut().enumerate() {
            bench.progress("record", ["without", "with"][keeps], round);
            turns.push(record_turn(bench, keeps == 1)?);
        }
    }
    let line = |what, unit, figure: fn(&(Cost, f64)) -> f64| {
        let [without, with] = turns.each_ref().map(|turns| turns.iter().map(figure).collect());
        Line::new(what, unit, with).beside("no record", without)
    };
    let noticeable = Target::RatioAtMost(NOTICEABLE);
    Ok(vec![
        line("plain flood, client CPU", "s", |(flood, _)| flood.client_cpu),
        line("plain flood, until the prompt", "s", |(flood, _)| flood.seconds).target(noticeable),
        line("peak memory, client", "MB", |(flood, _)| flood.client_megabytes),
        line("a key's echo, median", "ms", |(_, echo)| *echo).target(noticeable),
    ])
}

/// Runs a flood in a session, and types keys in another. Returns the flood's cost and the keys' median echo time.
fn record_turn(bench: &Bench, keeps: bool) -> Result<(Cost, f64)> {
    let home = Scratch::create()?;
    if !keeps {
        // This file takes the place of the folder for the record's key, so that the client keeps no record.
        home.keep(".local", b"")?;
    }
    let ends = bench.programs.systems();
    let script = Flood::new(Load::Plain, BYTES)?;
    let flood = through_session(ends, &script.command(), home.folder())?;
    let waits = echo::type_keys(ends, home.folder())?;
    let has_folder = home.folder().join(".local/share/rove/resume").is_dir();
    ensure!(has_folder == keeps, "the client keeps a record as it likes");
    Ok((flood, stats::quantile(&waits, 50)))
}

impl Cost {
    /// Returns this flood's cost, but with the larger peaks of memory of both floods.
    const fn larger(&self, other: &Self) -> Self {
        Self {
            server_megabytes: self.server_megabytes.max(other.server_megabytes),
            client_megabytes: self.client_megabytes.max(other.client_megabytes),
            ..*self
        }
    }
}

/// Runs a flood through sessions of both systems and through a bare pty, in turn.
fn pour(bench: &Bench, what: &str, load: Load) -> Result<([Vec<Cost>; 2], Vec<f64>)> {
    let script = Flood::new(load, BYTES)?;
    let (command, home) = (script.command(), script.scratch.folder());
    let mut bare = Vec::new();
    let costs = bench.compare(what, |system| {
        // The bare pty takes its turn once in a round, immediately before stock Mosh.
        if system.name == "stock" && load == Load::Plain {
            bare.push(through_bare_pty(&command, home).context("a bare pty")?);
        }
        through_session([system; 2], &command, home)
    })?;
    Ok((costs, bare))
}

/// Runs a flood through a session with the server of `far` and the client of `near`.
fn through_session([far, near]: [&System; 2], command: &[&str], home: &Path) -> Result<Cost> {
    let server = Server::start(far, home, command)?;
    let mut terminal = Terminal::open(Size::DEFAULT)?;
    let client = Client::start(near, &server, home, &terminal)?;
    let process = Process::open(client.pid(), Signal::TERM)?;
    terminal.read_past(READY)?;
    let (before, start) = (server.process.cpu_seconds()?, clock::now());
    terminal.send(b"\r")?;
    terminal.read_past(OVER)?;
    let cost = Cost {
        seconds: clock::seconds_since(start),
        server_cpu: server.process.cpu_seconds()? - before,
        client_cpu: process.cpu_seconds()?,
        server_megabytes: server.process.peak_megabytes()?,
        client_megabytes: process.peak_megabytes()?,
    };
    terminal.send(b"\r")?;
    client.wait(&mut terminal)?;
    Ok(cost)
}

/// Runs the same command on a pty, and discards its output. Returns the seconds.
fn through_bare_pty(command: &[&str], home: &Path) -> Result<f64> {
    let mut terminal = Terminal::open(Size::DEFAULT)?;
    let mut call = Command::new(command[0]);
    call.args(&command[1..]);
    let program = Client::on(in_known_environment(&mut call, home), &terminal)?;
    terminal.read_up_to(READY)?;
    let start = clock::now();
    terminal.send(b"\r")?;
    terminal.read_up_to(OVER)?;
    let seconds = clock::seconds_since(start);
    terminal.send(b"\r")?;
    program.wait(&mut terminal)?;
    Ok(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_floods_the_larger_peaks_count() {
        let cost = |server_megabytes, client_megabytes| Cost {
            server_cpu: 1.0,
            client_cpu: 1.0,
            seconds: 1.0,
            server_megabytes,
            client_megabytes,
        };
        let larger = cost(3.0, 4.0).larger(&cost(2.0, 5.0));
        let peaks = (larger.server_megabytes.to_bits(), larger.client_megabytes.to_bits());
        assert_eq!(peaks, (3.0_f64.to_bits(), 5.0_f64.to_bits()));
    }

    #[test]
    fn a_bare_pty_runs_the_command_to_its_marker() {
        let scratch = Scratch::new();
        let script =
            format!("stty -echo; printf {READY}; read go; echo x; printf {OVER}; read stay");
        assert!(through_bare_pty(&["sh", "-c", &script], scratch.folder()).unwrap() > 0.0);
    }
}
