//! A path that begins to lose datagrams: how long the echoes of the next keys take.

use std::thread;

use anyhow::Result;
use rove_link::LinkConfig;
use rove_rig::scratch::Scratch;
use rove_rig::session::{Client, Server};
use rove_rig::system::System;
use rove_rig::window::Window;
use rove_runs::statistics as stats;
use rove_terminal::Size;
use rove_units::{Duration, Seed};

use super::echo::{self, ECHO};
use super::path;
use super::report::{Line, Target};
use super::turns::Bench;

/// Delay of each direction. It is half of the round-trip time.
const DELAY: Duration = Duration::from_millis(50);
/// Share of datagrams that is lost in each direction. Source: Mosh paper (USENIX ATC 2012), table 3.
const LOSS: f64 = 0.29;
/// Keys before the loss begins, and keys after it.
const SETTLING: u64 = 40;
const KEYS: u64 = 20;
/// Sessions of a turn, all at the same time, each with another seed for its path. Chosen: the mean of 20 keys has a
/// standard deviation of 14 ms from path to path (docs/results/onset.md).
const SESSIONS: u64 = 10;
/// Least and most milliseconds from an echo to the next key. Chosen: as in the figure `onset` of rove-lab.
const PAUSE_MILLIS: [u64; 2] = [40, 100];

/// Measures sessions of both systems. In a round, both systems have the same paths. Each round has new paths.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Line>> {
    let turns = bench.compare_rounds("keys after the onset of loss", |round, system| {
        let seeds = (1..=SESSIONS).map(|number| (round as u64 - 1) * SESSIONS + number);
        thread::scope(|scope| {
            let sessions: Vec<_> =
                seeds.map(|seed| scope.spawn(move || type_keys(system, Seed::new(seed)))).collect();
            let waits = sessions.into_iter().map(|it| it.join().expect("a session does not panic"));
            waits.collect::<Result<Vec<_>>>().map(|waits| waits.concat())
        })
    })?;
    let line = |what: &str, figure: fn(&[f64]) -> f64| {
        Line::of(what, "ms", &turns, |waits| figure(waits)).target(Target::RatioAtMost(1.0))
    };
    Ok(vec![
        line("echo of the first 20 keys at 29 % loss, mean", |waits| {
            stats::mean(waits).unwrap_or(f64::NAN)
        }),
        line("echo of the first 20 keys at 29 % loss, nine in ten", |waits| {
            stats::quantile(waits, 90)
        }),
    ])
}

/// Returns the milliseconds from each key after the onset of loss to its echo.
fn type_keys(system: &System, seed: Seed) -> Result<Vec<f64>> {
    let scratch = Scratch::create()?;
    let server = Server::start(system, scratch.folder(), &ECHO)?;
    let link = LinkConfig { delay: DELAY, ..LinkConfig::default() };
    let relay = path::in_front_of(&server, &link, seed)?;
    let mut window = Window::open(Size::DEFAULT)?;
    let _client =
        Client::start_at(system, &server, relay.address(), scratch.folder(), &window.terminal)?;
    echo::wait_until_ready(&mut window)?;
    let pauses = seed.stream("pauses");
    let mut waits = Vec::new();
    for number in 0..SETTLING + KEYS {
        echo::pause(&mut window, &pauses, number, PAUSE_MILLIS)?;
        if number == SETTLING {
            let lossy = LinkConfig { loss: LOSS, ..link.clone() };
            relay.reconfigure(lossy.clone(), lossy);
        }
        let wait = echo::press(&mut window.terminal)?;
        waits.extend((number >= SETTLING).then_some(wait));
    }
    Ok(waits)
}
