//! Idle sessions: how often their processes wake up, and the processor time of that.

use anyhow::Result;
use rove_rig::clock;
use rove_rig::process::{self, Usage};
use rove_rig::scratch::Scratch;
use rove_rig::session::{Client, SHELL, Server};
use rove_rig::system::System;
use rove_rig::window::{Observed, Window};
use rove_rig::yes;
use rove_terminal::Size;
use rove_units::Duration;

use super::report::{Line, Target};
use super::turns::Bench;

/// How long both sessions idle before the measurement. Chosen: the first repeats of datagrams are then over.
const SETTLE: Duration = Duration::from_secs(10);
/// How long wake-ups count.
const WATCH: Duration = Duration::from_secs(60);
/// How long processor time counts, in the first round only. Both systems use some ten milliseconds in that time. It
/// begins together with [`WATCH`].
const LONG_WATCH: Duration = Duration::from_secs(600);

/// An idle session.
struct Idle {
    server: Server,
    client: Client,
    window: Window,
    _scratch: Scratch,
}

impl Idle {
    fn start(system: &System) -> Result<Self> {
        let scratch = Scratch::create()?;
        let server = Server::start(system, scratch.folder(), &SHELL)?;
        let mut window = Window::open(Size::DEFAULT)?;
        let client = Client::start(system, &server, scratch.folder(), &window.terminal)?;
        yes::wait_for_prompt(&mut window)?;
        Ok(Self { server, client, window, _scratch: scratch })
    }

    fn usage(&self) -> Result<[Usage; 2]> {
        Ok([process::usage(self.server.process.pid())?, process::usage(self.client.pid())?])
    }
}

/// Measures a session of each system, both at the same time.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Line>> {
    let mut wakes = [Vec::new(), Vec::new()];
    let mut costs = [Vec::new(), Vec::new()];
    for round in 1..=bench.rounds {
        bench.progress("idle sessions", "both", round);
        let [stock, rove] = bench.programs.systems();
        let mut sessions = [Idle::start(stock)?, Idle::start(rove)?];
        // Neither session writes anything, so it suffices to read one of the windows while both wait.
        sessions[0].window.watch(clock::now() + SETTLE)?;
        let before = [sessions[0].usage()?, sessions[1].usage()?];
        let began = clock::now();
        sessions[0].window.watch(began + WATCH)?;
        note(&sessions, before, &mut wakes)?;
        if round == 1 {
            sessions[0].window.watch(began + LONG_WATCH)?;
            note(&sessions, before, &mut costs)?;
        }
    }
    let line = |what, unit, turns, figure: fn(&[Usage; 2]) -> f64| {
        Line::of(what, unit, turns, figure).target(Target::RatioAtMost(1.0))
    };
    Ok(vec![
        line("idle for 60 s, server wakes up", "times", &wakes, |usage| usage[0].switches),
        line("idle for 60 s, client wakes up", "times", &wakes, |usage| usage[1].switches),
        line("idle for 10 min, server CPU", "ms", &costs, |usage| usage[0].cpu_seconds * 1e3),
        line("idle for 10 min, client CPU", "ms", &costs, |usage| usage[1].cpu_seconds * 1e3),
    ])
}

/// Adds the usage of each session since `before` to `found`.
fn note(
    sessions: &[Idle; 2],
    before: [[Usage; 2]; 2],
    found: &mut [Vec<[Usage; 2]>; 2],
) -> Result<()> {
    for ((session, before), found) in sessions.iter().zip(before).zip(found) {
        let after = session.usage()?;
        found.push([after[0].since(before[0]), after[1].since(before[1])]);
    }
    Ok(())
}
