//! Echoes during a copy: how long they take over slow paths while the same host sends a file as fast as it can.
//!
//! rove runs with `--predict=never`, so that each echo takes a round trip. The typist does not wait for echoes.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;

use anyhow::{Context, Result, ensure};
use rove_link::{LinkConfig, Order, Schedule, Synthetic, Trace};
use rove_rig::clock;
use rove_rig::scratch::Scratch;
use rove_rig::session::Client;
use rove_rig::system::System;
use rove_rig::terminal::Terminal;
use rove_rig::window::{Observed, Window, text};
use rove_runs::statistics as stats;
use rove_terminal::Size;
use rove_units::{BitRate, Bytes, Duration, Instant, Seed};
use rustix::net::sockopt::set_tcp_congestion;

use super::copy::make_file;
use super::pair::{Pair, show};
use super::report::{Line, Target};
use super::turns::Bench;

/// A program that echoes keys itself, below the rows of notices. No visible command line contains the word `ready`.
const PROGRAM: &str = "stty raw -echo; printf '\\r\\n\\nrea'; printf dy; exec cat";
/// The key that is typed. Neither the word `ready` nor a notice contains it.
const KEY: u8 = b'#';
/// Least and most milliseconds from a key to the next: four keys per second on average, as in the figures `streams` of
/// rove-lab. The random times keep step with no timer of a program.
const PAUSE_MILLIS: [u64; 2] = [150, 350];
/// How long the typist types without the copy, and again with it. Chosen: of some 80 keys, four are slower than the
/// 95th percentile. The run waits as long for the copy's first bytes, because ssh hardly copies at 29 % loss.
const TYPING: Duration = Duration::from_secs(20);
/// Longest wait for the last echoes. A key without an echo counts with its time until then. Chosen: the patience of a
/// user.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time between two checks of the arriving file. Chosen: short enough to know when the copy begins.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// Size of the copied file. Chosen: more than a path carries at 20 Mbit/s during the run. No path is as fast for long.
const FILE_SIZE: Bytes = Bytes::mib(128);
/// Size of the blocks in which scp writes its file. Chosen: the default of scp(1), which newer versions exceed. At 29 %
/// loss, ssh copies few blocks, and their number is its speed.
const BLOCK: &str = "buffer=32768";
/// Congestion control of the host's TCP, whatever this machine's default is. Chosen: Linux's own default.
const TCP: &str = "cubic";
/// The name of a cellular link's recording, which is used if the recordings contain it.
const LTE: &str = "Verizon-LTE-short";

/// The carriers of keys and copy. In a round, all run at the same time, each over a path of its own.
const CARRIERS: [Carrier; 3] = [Carrier::Rove, Carrier::OneSsh, Carrier::TwoSsh];

/// The programs that carry keys and copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Carrier {
    /// A session of rove, and scp over `rove exec` through the session's client.
    Rove,
    /// A session of ssh, and scp through the session's connection (`ControlMaster`).
    OneSsh,
    /// A session of ssh, and scp over a connection of its own.
    TwoSsh,
}

/// A path, the same for all carriers.
struct SlowPath {
    name: &'static str,
    /// The links to the host and from it.
    links: [LinkConfig; 2],
    /// Most milliseconds by which the copy may delay an echo.
    added_max: f64,
}

/// The figures of a carrier in a round.
#[derive(Clone, Copy)]
struct Turn {
    /// The 95th percentile of the echoes in milliseconds, without and with the copy.
    alone: f64,
    beside: f64,
    /// The copy's speed in Mbit/s, from its beginning to the last echo.
    speed: f64,
    /// Whether the emulator was on time, so that the path was not slower than its settings.
    is_valid: bool,
}

/// Measures all paths and carriers, all of them at the same time in each round.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Line>> {
    let source = Scratch::create()?;
    make_file(&source.path("sent"), FILE_SIZE)?;
    let paths = paths(bench.traces.as_deref())?;
    let mut turns = paths.each_ref().map(|_| CARRIERS.map(|_| Vec::new()));
    for round in 1..=bench.rounds {
        bench.progress("keys beside a copy", "rove and ssh", round);
        let of = |path: &SlowPath, carrier| {
            let run = Run { path, carrier, seed: Seed::new(round as u64) };
            run.turn(bench.programs.systems()[1], &source.path("sent"))
                .with_context(|| format!("{}, {carrier:?}", path.name))
        };
        let found = thread::scope(|scope| {
            let start = |path| CARRIERS.map(|carrier| scope.spawn(move || of(path, carrier)));
            let threads = paths.each_ref().map(start).into_iter().flatten();
            let turns = threads.map(|it| it.join().expect("a turn does not panic"));
            turns.collect::<Result<Vec<Turn>>>()
        })?;
        if found.iter().all(|turn| turn.is_valid) {
            turns.iter_mut().flatten().zip(found).for_each(|(turns, turn)| turns.push(turn));
        }
    }
    let is_busy = turns[0][0].is_empty();
    ensure!(!is_busy, "this computer was too busy in each round: the emulator was late");
    Ok(paths.iter().zip(&turns).flat_map(|(path, turns)| lines_of(path, turns)).collect())
}

/// Returns the table's lines about a path.
fn lines_of(path: &SlowPath, [rove, one, two]: &[Vec<Turn>; 3]) -> [Line; 6] {
    let of = |turns: &[Turn], figure: fn(&Turn) -> f64| turns.iter().map(figure).collect();
    let line = |what, unit, figure, name, others| {
        let what = format!("{}: {what}", path.name);
        Line::new(what, unit, of(rove, figure)).beside(name, of(others, figure))
    };
    let [alone, echo, copy] = ["echo alone, p95", "echo beside the copy, p95", "copy"];
    [
        line(alone, "ms", |it| it.alone, "ssh", one),
        Line::new(format!("{}: {echo}", path.name), "ms", of(rove, |it| it.beside))
            .beside("alone", of(rove, |it| it.alone))
            .target(Target::ExcessAtMost(path.added_max)),
        line(echo, "ms", |it| it.beside, "ssh", one),
        line(echo, "ms", |it| it.beside, "two ssh", two),
        line(copy, "Mbit/s", |it| it.speed, "ssh", one),
        line(copy, "Mbit/s", |it| it.speed, "two ssh", two),
    ]
}

/// Returns the paths. Their round trips, rates, queues and losses are those of the figures `streams` of rove-lab.
fn paths(traces: Option<&Path>) -> Result<[SlowPath; 4]> {
    let link = |rtt, megabits: u64, queue| LinkConfig {
        delay: Duration::from_millis(rtt) / 2,
        rate: BitRate::from_bits_per_second(megabits * 1_000_000),
        queue_max: Bytes::new(queue),
        ..LinkConfig::default()
    };
    let both = |link: LinkConfig| [link.clone(), link];
    let lossy = LinkConfig { loss: 0.29, ..link(100, 10, 125_000) };
    let (lte, traces) = lte(traces)?;
    let recorded = traces.map(|trace| LinkConfig {
        order: Order::LossDelayQueue,
        delay: Duration::from_millis(20),
        schedule: Some(Schedule::new(trace)),
        ..LinkConfig::default()
    });
    let all = [
        ("10 Mbit/s, 40 ms", both(link(40, 10, 125_000)), 10.0),
        (lte, recorded, 25.0),
        ("1 Mbit/s, queue of 2 s", both(link(40, 1, 250_000)), 25.0),
        ("10 Mbit/s, 100 ms, 29 %", both(lossy), 25.0),
    ];
    Ok(all.map(|(name, links, added_max)| SlowPath { name, links, added_max }))
}

/// Returns a name, and an LTE link's delivery opportunities to the host and from it. They are recorded if the user
/// names a directory of recordings, and drawn at random if not. Both have the same mean rate.
fn lte(traces: Option<&Path>) -> Result<(&'static str, [Trace; 2])> {
    let Some(traces) = traces else {
        let outage_mean = Duration::from_millis(300);
        let link = Synthetic { start: Some(400.0), outage_mean, ..Synthetic::default() };
        let draw = |way| link.trace(Seed::new(1).stream(way));
        return Ok(("drawn LTE, 40 ms", [draw("up")?, draw("down")?]));
    };
    let read = |way| {
        let file = traces.join("links").join(LTE).with_extension(way);
        let text = fs::read_to_string(&file).map_err(anyhow::Error::from);
        let trace = text.and_then(|text| Ok(text.parse::<Trace>()?));
        trace.with_context(|| format!("cannot read {}", file.display()))
    };
    Ok(("Verizon LTE, 40 ms", [read("up")?, read("down")?]))
}

/// A carrier's turn over a path in a round.
struct Run<'a> {
    path: &'a SlowPath,
    carrier: Carrier,
    seed: Seed,
}

impl Run<'_> {
    /// Logs in while the path only delays. Then slows the path down, and types without and with the copy.
    fn turn(&self, rove: &System, sent: &Path) -> Result<Turn> {
        let delay = |link: &LinkConfig| {
            let LinkConfig { order, delay, .. } = *link;
            LinkConfig { order, delay, ..LinkConfig::default() }
        };
        let pair = Pair::new(rove, self.path.links.each_ref().map(delay), self.seed)?;
        set_tcp_congestion(&pair.sshd.listener, TCP).context("the kernel has no CUBIC")?;
        let [session, mut scp] = self.commands(&pair, sent)?;
        let (_, (_session, mut window)) = show(session)?;
        self.slow_down(&pair)?;
        let alone = type_keys(&mut window, 0, self.seed)?;

        let terminal = Terminal::open(Size::DEFAULT)?;
        let mut copy = Client::on(&mut scp, &terminal)?;
        let arrived = || fs::metadata(pair.home.path("arrived")).map_or(0, |file| file.len());
        let latest = clock::now() + TYPING;
        while arrived() == 0 && clock::now() < latest && !copy.has_ended()? {
            window.look(clock::now() + LOOK_AGAIN)?;
        }
        self.slow_down(&pair)?;
        let (start, before) = (clock::now(), arrived());
        let beside = type_keys(&mut window, alone.len(), self.seed)?;
        #[expect(clippy::cast_precision_loss, reason = "less than 2^53 bytes")]
        let megabits = (arrived() - before) as f64 * 8.0 / 1e6;
        let speed = megabits / clock::seconds_since(start);
        ensure!(!copy.has_ended()?, "the copy ended before the last echo");
        let is_valid = pair.finish(&format!("{}, {:?}", self.path.name, self.carrier))?;
        let [alone, beside] = [alone, beside].map(|waits| stats::quantile(&waits, 95));
        Ok(Turn { alone, beside, speed, is_valid })
    }

    /// Returns the command of the session and the command of the copy.
    fn commands(&self, pair: &Pair, sent: &Path) -> Result<[Command; 2]> {
        let (mut session, mut scp) = (pair.near_ssh("ssh")?, pair.near_ssh("scp")?);
        let path = format!("-oControlPath={}", pair.home.path("master").display());
        match self.carrier {
            Carrier::Rove => {
                session = pair.session(&["--predict=never"], PROGRAM)?;
                scp.arg("-S").arg(pair.home.path("rove-exec"));
            }
            Carrier::OneSsh => {
                session.args(["-M", &path, "-tt", "far", PROGRAM]);
                scp.arg(&path);
            }
            Carrier::TwoSsh => {
                session.args(["-tt", "far", PROGRAM]);
            }
        }
        scp.args(["-q", "-X", BLOCK]).arg(format!("far:{}", sent.display()));
        scp.arg(pair.home.path("arrived"));
        Ok([session, scp])
    }

    /// Gives the path its rate, queue and loss. A recording begins at the same point for all carriers of a round, so
    /// that the same keys meet the same gaps.
    fn slow_down(&self, pair: &Pair) -> Result<()> {
        let mut links = self.path.links.clone();
        for schedule in links.iter_mut().filter_map(|link| link.schedule.as_mut()) {
            let share = self.seed.stream("recording").at(0).unit();
            schedule.skipped = schedule.trace.period().mul_f64(share);
            schedule.start = pair.testbed.clock().now();
        }
        pair.testbed.reconfigure(links.map(Into::into))
    }
}

/// Types for [`TYPING`], and waits for the last echoes. The screen already shows `before` keys, and its count of keys
/// tells which echoes have come. Returns the milliseconds from each key to its echo.
fn type_keys(window: &mut Window, before: usize, seed: Seed) -> Result<Vec<f64>> {
    let (pauses, [least, most]) = (seed.stream("pauses"), PAUSE_MILLIS);
    let (mut typed, mut waits) = (Vec::new(), Vec::new());
    let waited = |since: &Instant| clock::seconds_since(*since) * 1e3;
    let mut next = clock::now();
    let end = next + TYPING;
    let latest = end + PATIENCE;
    while next < end || (waits.len() < typed.len() && clock::now() < latest) {
        if next < end && clock::now() >= next {
            let pause = least + pauses.at(typed.len() as u64).below(most - least);
            next += Duration::from_millis(pause);
            typed.push(clock::now());
            window.send(&[KEY])?;
        }
        window.look(if next < end { next } else { latest })?;
        let shown = text(window.screen()).bytes().filter(|byte| *byte == KEY).count();
        let answered = typed.iter().take(shown.saturating_sub(before)).skip(waits.len());
        waits.extend(answered.map(waited));
    }
    waits.extend(typed.iter().skip(waits.len()).map(waited));
    Ok(waits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_whether_the_lte_link_is_recorded_or_drawn() {
        assert_eq!(lte(None).expect("a link").0, "drawn LTE, 40 ms");
        let traces = Scratch::new();
        assert!(lte(Some(traces.folder())).is_err(), "a directory without the recording");
        for (way, text) in [("up", "1\n7"), ("down", "3\n9")] {
            traces.write(&format!("links/{LTE}.{way}"), text);
        }
        let (name, links) = lte(Some(traces.folder())).expect("a link");
        let periods = links.map(|trace| trace.period().as_millis());
        assert_eq!((name, periods), ("Verizon LTE, 40 ms", [7, 9]));
    }
}
