//! Bytes on the wire for a script, in both directions, with headers.

use anyhow::Result;
use rove_link::LinkConfig;
use rove_rig::clock;
use rove_rig::scratch::Scratch;
use rove_rig::session::{Client, SHELL, Server};
use rove_rig::system::System;
use rove_rig::window::{Observed, Window, text};
use rove_rig::yes;
use rove_shell::relay::{Relay, Traffic};
use rove_terminal::Size;
use rove_units::{Duration, Seed};

use super::path;
use super::report::{Line, Target};
use super::script::{FILE, REST, SCRIPT, Scene, Step};
use super::turns::Bench;

/// Delay of each direction. Chosen: a server on the same continent.
const DELAY: Duration = Duration::from_millis(20);

/// Bytes that a datagram has on the wire besides its payload: headers of IPv4 (RFC 791) and UDP (RFC 768).
const HEADER_BYTES: u64 = 20 + 8;

/// Bytes that went up to the server and down from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sent {
    up: u64,
    down: u64,
}

/// Measures the script in sessions of both systems.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Line>> {
    let turns = bench.compare("script", play)?;
    let line = |what: String, figure: &dyn Fn(&Vec<Sent>) -> u64| {
        Line::of(what, "kB", &turns, |sent| kilo(figure(sent)))
    };
    let total = line("wire, the whole script".to_owned(), &|sent| {
        sent.iter().map(|scene| scene.up + scene.down).sum()
    });
    let mut lines = vec![total.target(Target::RatioAtMost(1.0))];
    for (number, scene) in SCRIPT.iter().enumerate() {
        lines.push(line(format!("wire, {}", scene.name), &|sent| {
            sent[number].up + sent[number].down
        }));
    }
    lines.push(line("wire, up".to_owned(), &|sent| sent.iter().map(|scene| scene.up).sum()));
    lines.push(line("wire, down".to_owned(), &|sent| sent.iter().map(|scene| scene.down).sum()));
    Ok(lines)
}

#[expect(clippy::cast_precision_loss, reason = "a script sends no exabytes")]
fn kilo(bytes: u64) -> f64 {
    bytes as f64 / 1e3
}

/// Plays the script in a session. Returns the bytes of each scene.
fn play(system: &System) -> Result<Vec<Sent>> {
    let scratch = Scratch::create()?;
    let (name, contents) = FILE;
    scratch.keep(name, contents.as_bytes())?;
    let server = Server::start(system, scratch.folder(), &SHELL)?;
    let relay = path::in_front_of(&server, &LinkConfig::lossless(DELAY), Seed::new(1))?;
    let mut window = Window::open(Size::DEFAULT)?;
    let client =
        Client::start_at(system, &server, relay.address(), scratch.folder(), &window.terminal)?;
    perform(&mut window, Step::Prompt)?;
    perform(&mut window, Step::Watch(REST))?;

    let mut scenes = Vec::new();
    for Scene { steps, .. } in SCRIPT {
        let before = sent(&relay);
        for step in steps {
            perform(&mut window, *step)?;
        }
        scenes.push(sent(&relay).since(before));
    }
    window.terminal.send(b"exit\r")?;
    client.wait(&mut window.terminal)?;
    Ok(scenes)
}

fn perform(window: &mut Window, step: Step) -> Result<()> {
    match step {
        Step::Type(keys, pace) => {
            let mut next = clock::now();
            for key in keys.bytes() {
                window.terminal.send(&[key])?;
                next += pace;
                window.watch(next)?;
            }
            Ok(())
        }
        Step::Expect(wanted) => window.wait_for(wanted, |screen| text(screen).contains(wanted)),
        Step::Prompt => yes::wait_for_prompt(window),
        Step::Watch(time) => window.watch(clock::now() + time),
    }
}

/// Returns the bytes that have gone through the relay so far.
fn sent(relay: &Relay) -> Sent {
    Sent { up: on_the_wire(relay.uplink()), down: on_the_wire(relay.downlink()) }
}

const fn on_the_wire(traffic: Traffic) -> u64 {
    traffic.bytes.get() + traffic.datagrams * HEADER_BYTES
}

impl Sent {
    /// Returns the bytes sent since `before`.
    const fn since(self, before: Self) -> Self {
        Self { up: self.up - before.up, down: self.down - before.down }
    }
}

#[cfg(test)]
mod tests {
    use rove_units::Bytes;

    use super::*;

    #[test]
    fn headers_count_for_every_datagram() {
        let traffic = Traffic { datagrams: 3, bytes: Bytes::new(100), ..Traffic::default() };
        assert_eq!(on_the_wire(traffic), 100 + 3 * 28);
    }

    #[test]
    fn a_scene_counts_what_was_sent_in_it() {
        let (before, after) = (Sent { up: 5, down: 7 }, Sent { up: 6, down: 17 });
        assert_eq!(after.since(before), Sent { up: 1, down: 10 });
    }
}
