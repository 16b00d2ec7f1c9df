//! Ctrl-C during `yes` on a slow path: the time until the prompt, and the server's processor time.

use anyhow::Result;
use rove_link::LinkConfig;
use rove_rig::clock;
use rove_rig::scratch::Scratch;
use rove_rig::session::{Client, SHELL, Server};
use rove_rig::system::System;
use rove_rig::window::{Observed, Window};
use rove_rig::yes;
use rove_runs::statistics as stats;
use rove_terminal::Size;
use rove_units::{BitRate, Bytes, Duration, Seed};

use super::path;
use super::report::{Line, Target};
use super::turns::Bench;

/// Delay of each direction, which is half of the round-trip time. Chosen, like rate and queue: a terminal that sent
/// every byte would have eight seconds of output to send before the prompt.
const DELAY: Duration = Duration::from_millis(20);
const RATE: BitRate = BitRate::from_bits_per_second(1_000_000).expect("a megabit is not zero");
const QUEUE: Bytes = Bytes::new(1_000_000);

/// How long the server's processor time is measured.
const WATCH: Duration = Duration::from_secs(8);

/// Interruptions in a session, each at another time between two frames. Chosen: their median then varies by a few
/// milliseconds from round to round.
const INTERRUPTIONS: u64 = 11;

/// The measurements of a session.
#[derive(Clone, Copy, Debug)]
struct Showing {
    milliseconds: f64,
    server_cpu: f64,
}

/// Measures interruptions in sessions of both systems.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Line>> {
    let turns = bench.compare("yes", interrupt)?;
    Ok(vec![
        Line::of("Ctrl-C under yes, until the prompt", "ms", &turns, |it| it.milliseconds)
            .target(Target::ExcessAtMost(10.0)),
        Line::of("yes for 8 s, server CPU", "s", &turns, |it| it.server_cpu)
            .target(Target::RatioAtMost(0.5)),
    ])
}

fn interrupt(system: &System) -> Result<Showing> {
    let scratch = Scratch::create()?;
    let server = Server::start(system, scratch.folder(), &SHELL)?;
    let link =
        LinkConfig { delay: DELAY, rate: Some(RATE), queue_max: QUEUE, ..LinkConfig::default() };
    let relay = path::in_front_of(&server, &link, Seed::new(1))?;
    let mut window = Window::open(Size::DEFAULT)?;
    let client =
        Client::start_at(system, &server, relay.address(), scratch.folder(), &window.terminal)?;
    yes::wait_for_prompt(&mut window)?;

    yes::start_yes(&mut window)?;
    let (before, start) = (server.process.cpu_seconds()?, clock::now());
    window.watch(start + WATCH)?;
    let server_cpu = server.process.cpu_seconds()? - before;
    yes::stop_yes(&mut window)?;

    let waits = yes::interrupt(&mut window, INTERRUPTIONS)?;
    let waits: Vec<f64> = waits.into_iter().map(|wait| wait.as_secs_f64() * 1e3).collect();
    window.terminal.send(b"exit\r")?;
    client.wait(&mut window.terminal)?;
    Ok(Showing { milliseconds: stats::median(&waits), server_cpu })
}
