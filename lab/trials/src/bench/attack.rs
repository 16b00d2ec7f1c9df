//! An attacked session, whose server gets datagrams from a stranger: its server's cost, and its user's delay.

use std::fs;
use std::os::unix::fs::chown;

use anyhow::{Context, Result};
use rove_rig::scratch::Scratch;
use rove_rig::session::{Client, Server};
use rove_rig::system::System;
use rove_rig::terminal::Terminal;
use rove_rig::{clock, process};
use rove_runs::statistics as stats;
use rove_terminal::Size;
use rove_units::{Duration, Seed};
use rustix::process::geteuid;

use super::attacker::{Attacker, Kind};
use super::echo::ECHO;
use super::overhear::Overheard;
use super::report::{Line, Target};
use super::turns::Bench;

/// Keys that are in no control sequence of a frame. They take turns, so that a late echo does not look like the echo of
/// the next key.
const KEYS: [&str; 3] = ["#", "&", "~"];
/// Keys per turn before the attack, and again during it. Chosen: five seconds each.
const KEYS_PER_TURN: u64 = 50;
/// Least and most milliseconds from a key's echo to the next key. Chosen: as in the row `echo`.
const PAUSE_MILLIS: [u64; 2] = [60, 160];
/// Longest wait for an echo. A later echo counts with this time. Chosen: a heartbeat, within which even a lost datagram
/// is sent again.
const ECHO_MAX: Duration = Duration::from_secs(3);
/// Most milliseconds for 95 % of the echoes, at each rate of [`RATES`].
const ECHO_P95_MILLIS: f64 = 30.0;
/// The user number of `nobody` in Debian.
const NOBODY: u32 = 65_534;
/// Rates of the attack, in datagrams per second.
const RATES: [u32; 2] = [10_000, 100_000];

/// The measurements of a turn.
#[derive(Clone, Debug)]
struct Turn {
    /// Milliseconds from each key to its echo before the attack.
    quiet: Vec<f64>,
    /// Milliseconds from each key to its echo during the attack.
    echoes: Vec<f64>,
    /// Share of a processor that the server used during the attack, in percent.
    cpu: f64,
    /// How much the server's peak memory grew, in kilobytes.
    memory: f64,
    /// Datagrams per second that the attacker really sent.
    rate: f64,
    /// Percent of the attacker's datagrams that the system dropped: the socket's buffer was full, or a filter was shut.
    dropped: f64,
}

/// Attacks sessions of rove with each kind of datagram. Attacks stock Mosh with a single kind, because it waits after
/// each datagram of a wrong length. Both servers run as an ordinary user, whose socket gets no extra memory.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Line>> {
    if geteuid().is_root() {
        eprintln!("servers and clients run as the user nobody");
    }
    eprintln!("net.core.rmem_max is {}", fs::read_to_string("/proc/sys/net/core/rmem_max")?.trim());
    let mut lines = Vec::new();
    for rate in RATES {
        for kind in Kind::ALL {
            let what = format!("{} at {} k/s", kind.name(), rate / 1_000);
            let [stock, rove] = if kind == Kind::Forged {
                let [stock, rove] = bench.compare(&what, |system| turn(system, kind, rate))?;
                [Some(stock), Some(rove)]
            } else {
                let [_, rove] = bench.programs.systems();
                let mut turns = Vec::new();
                for round in 1..=bench.rounds {
                    bench.progress(&what, rove.name, round);
                    turns.push(turn(rove, kind, rate).context(what.clone())?);
                }
                [None, Some(turns)]
            };
            let rove = rove.expect("always measured");
            lines.extend(echo_lines(&what, &rove, stock.as_ref()));
            lines.extend(cost_lines(&what, &rove, stock.as_ref()));
        }
    }
    Ok(lines)
}

fn echo_lines(what: &str, rove: &[Turn], stock: Option<&Vec<Turn>>) -> [Line; 3] {
    let p50 = |turn: &Turn| stats::quantile(&turn.echoes, 50);
    let p95 = |turn: &Turn| stats::quantile(&turn.echoes, 95);
    let quiet = rove.iter().map(|turn| stats::quantile(&turn.quiet, 95)).collect();
    [
        line(format!("{what}: a key's echo, p50"), "ms", rove, stock, &p50),
        line(format!("{what}: p95"), "ms", rove, stock, &p95)
            .target(Target::AtMost(ECHO_P95_MILLIS)),
        Line::new(format!("{what}: p95"), "ms", rove.iter().map(p95).collect())
            .beside("no attack", quiet),
    ]
}

fn cost_lines(what: &str, rove: &[Turn], stock: Option<&Vec<Turn>>) -> [Line; 4] {
    [
        line(format!("{what}: server's processor"), "%", rove, stock, &|turn| turn.cpu),
        line(format!("{what}: memory more"), "kB", rove, stock, &|turn| turn.memory),
        line(format!("{what}: sent in fact"), "1/s", rove, stock, &|turn| turn.rate),
        line(format!("{what}: dropped by the system"), "%", rove, stock, &|turn| turn.dropped),
    ]
}

fn line(
    what: String,
    unit: &'static str,
    rove: &[Turn],
    stock: Option<&Vec<Turn>>,
    figure: &dyn Fn(&Turn) -> f64,
) -> Line {
    let figures = |turns: &[Turn]| turns.iter().map(figure).collect();
    let line = Line::new(what, unit, figures(rove));
    match stock {
        Some(stock) => line.beside("stock", figures(stock)),
        None => line,
    }
}

/// Types in a session, first without and then during an attack.
fn turn(system: &System, kind: Kind, rate: u32) -> Result<Turn> {
    let scratch = Scratch::create()?;
    let system = if geteuid().is_root() {
        chown(scratch.folder(), Some(NOBODY), None)?;
        system.clone().as_nobody()
    } else {
        system.clone()
    };
    let server = Server::start(&system, scratch.folder(), &ECHO)?;
    let overheard = Overheard::start(server.address())?;
    let mut terminal = Terminal::open(Size::DEFAULT)?;
    let home = scratch.folder();
    let _client = Client::start_at(&system, &server, overheard.address(), home, &terminal)?;
    terminal.read_past("ready")?;
    // These keys also give the attacker the client's first datagrams, which it copies.
    let quiet = type_keys(&mut terminal, KEYS_PER_TURN)?;

    let pid = server.process.pid();
    let memory = server.process.peak_megabytes()?;
    let drops = socket_drops(server.address().port())?;
    let (start, usage) = (clock::now(), process::usage(pid)?);
    let attacker = Attacker::start(server.address(), kind.payloads(&overheard), rate)?;
    let echoes = type_keys(&mut terminal, KEYS_PER_TURN)?;
    let seconds = clock::seconds_since(start);
    let cpu_seconds = process::usage(pid)?.since(usage).cpu_seconds;
    let sent = attacker.stop();
    let dropped = socket_drops(server.address().port())? - drops;
    Ok(Turn {
        quiet,
        echoes,
        cpu: 100.0 * cpu_seconds / seconds,
        memory: 1e3 * (server.process.peak_megabytes()? - memory),
        rate: sent / seconds,
        dropped: 100.0 * dropped / sent.max(1.0),
    })
}

/// Types `count` keys. Returns the milliseconds from each key to its echo.
fn type_keys(terminal: &mut Terminal, count: u64) -> Result<Vec<f64>> {
    let chance = Seed::new(1).stream("keys");
    let [least, most] = PAUSE_MILLIS;
    let mut waits = Vec::new();
    for (number, key) in (0..count).zip(KEYS.into_iter().cycle()) {
        let next =
            clock::now() + Duration::from_millis(least + chance.at(number).below(most - least));
        while terminal.read(next)?.is_some() {}
        let start = clock::now();
        terminal.send(key.as_bytes())?;
        while let Some(bytes) = terminal.read(start + ECHO_MAX)? {
            if bytes.contains(&key.as_bytes()[0]) {
                break;
            }
        }
        waits.push(clock::seconds_since(start) * 1e3);
    }
    Ok(waits)
}

/// Returns how many datagrams for this UDP port the system has dropped.
fn socket_drops(port: u16) -> Result<f64> {
    let path = "/proc/net/udp";
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    drops_of(&text, port).with_context(|| format!("no port {port} in {path}"))
}

fn drops_of(table: &str, port: u16) -> Option<f64> {
    let ending = format!(":{port:04X}");
    let fields = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut of_port =
        fields.filter(|fields| fields.get(1).is_some_and(|local| local.ends_with(&ending)));
    of_port.next()?.last()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_stand_last_in_the_row_of_the_port() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n\
            \x20 10: 0100007F:EA60 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 42 2 0000000000000000 3\n\
            \x20 11: 0100007F:EA61 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 43 2 0000000000000000 4711\n";
        assert_eq!(drops_of(table, 60_001), Some(4711.0));
        assert_eq!(drops_of(table, 60_002), None);
    }
}
