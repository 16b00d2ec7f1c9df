//! Keys beside a copy: the echo delay of a typist whose session also carries a copy by a stream, and its throughput.
//!
//! The session, the streams and their packets are rove's own. The system is the congestion controller of the streams.
//! The copy goes from host to user. Each run is made three times: with the copy, without, and with the copy alone.

use anyhow::Result;
use rove_congestion::cubic::Cubic;
use rove_congestion::sprout::Scale;
use rove_congestion::sprout_ack::SproutAck;
use rove_congestion::{Begin, Controller};
use rove_flows::flow::beside::Beside;
use rove_flows::flow::contender::Contender;
use rove_flows::flow::controlled::Controlled;
use rove_flows::flow::ends::{Receiver, Sender};
use rove_flows::flow::program::Limits;
use rove_flows::flow::source::FULL;
use rove_headless::copying::{Typist, copying};
use rove_link::net::{LEFT_ADDRESS, Net, RIGHT_ADDRESS};
use rove_runs::statistics::rank;
use rove_units::{Bytes, Duration, Instant, Seed};

use crate::experiment::conditions::{Conditions, RunFigure, Samples, nanos};
use crate::experiment::measure::shared::{Controllers, controllers};
use crate::experiment::system::System;

/// Length of a copy if the link sets none. Chosen: the slowest controller has found the link's rate in a third of it.
const LENGTH: Duration = Duration::from_secs(60);

/// Time from the session's start to the copy's. Chosen: some timeouts, after which each end knows the other's streams.
const SETTLING: Duration = Duration::from_secs(3);

/// How long the run waits for the last echoes, while the copy goes on. Chosen: as long as a user has patience.
const PATIENCE: Duration = Duration::from_secs(10);

/// Payload of a full packet when a controller is made. The controller is told if the path needs another size.
const PACKET: Bytes = Bytes::new(1_176);

/// The longest time for which the streams hold an acknowledgment. Source: `ACK_DELAY` of the streams.
const ACK_DELAY: Duration = Duration::from_millis(25);

/// Figures of a run beside the delays of its keys. Only runs with a download have the last two.
pub(super) const FIGURES: [RunFigure; 5] = [
    RunFigure::of_time("added at p95"),
    RunFigure { name: "kbit/s", scale: 1e-3, is_compared: true },
    RunFigure { name: "no keys, kbit/s", scale: 1e-3, is_compared: true },
    RunFigure { name: "download left (%)", scale: 1e-4, is_compared: false },
    RunFigure { name: "no keys, download left (%)", scale: 1e-4, is_compared: false },
];

/// A function that makes the controller of an end.
type Make<'a> = &'a dyn Fn() -> Box<dyn Controller>;

/// The parts of a session that a run can leave out.
#[derive(Clone, Copy)]
struct Parts {
    types: bool,
    copies: bool,
    downloads: bool,
}

/// The outcome of a session.
struct Outcome {
    /// The echo delays of the keys that had an echo.
    delays: Vec<Duration>,
    /// How long each key without an echo had waited at the end.
    waiting: Vec<Duration>,
    /// The bytes of the copy, and the packets of the download, that arrived while the user typed.
    copied: u64,
    downloaded: u64,
}

/// Returns whether a system is a controller that streams may follow.
pub(super) const fn is_measured(system: System) -> bool {
    match system {
        System::RemyBulk | System::RemyDeltaOne | System::File(_) => true,
        _ => matches!(
            system.contender(),
            Some(
                Contender::SproutAckWide
                    | Contender::Cubic
                    | Contender::NewReno
                    | Contender::Ledbat
                    | Contender::LedbatShort
                    | Contender::LowDelay
            )
        ),
    }
}

/// Measures a copy, beside a download by CUBIC if `has_download`.
pub(super) fn run(conditions: &Conditions<'_>, has_download: bool) -> Result<Samples> {
    let of_system = match conditions.system().contender() {
        Some(Contender::SproutAckWide) => Some(sprout_ack()),
        _ => controllers(conditions, None, (Begin::default(), PACKET), Limits::VIRTUAL)?,
    };
    let Some(Controllers { make, program }) = of_system else { return Ok(Samples::absent()) };
    let all = Parts { types: true, copies: true, downloads: has_download };
    let with = session(conditions, &make, all);
    let without = session(conditions, &make, Parts { copies: false, ..all });
    let alone = session(conditions, &make, Parts { types: false, ..all });
    let added = with.p95().saturating_sub(without.p95());
    let rate = |outcome: &Outcome| 8 * outcome.copied / length(conditions).as_secs().max(1);
    let left = |outcome: &Outcome| 1_000_000 * outcome.downloaded / without.downloaded.max(1);
    let mut figures = vec![nanos(added), rate(&with), rate(&alone)];
    if has_download {
        figures.extend([left(&with), left(&alone)]);
    }
    let samples = Samples {
        times: with.delays.iter().copied().map(nanos).collect(),
        missing: u64::try_from(with.waiting.len())?,
        figures,
        ..Samples::default()
    };
    Ok(samples.unless_faulty(program.as_ref()))
}

impl Outcome {
    /// Returns the 95th percentile of the delays. A key without an echo counts with the time that it had waited.
    fn p95(&self) -> Duration {
        let mut all = [&self.delays[..], &self.waiting].concat();
        all.sort_unstable();
        rank(&all, 0, 95).unwrap_or_default()
    }
}

/// Returns Sprout-ACK, which knows how long these receivers hold an acknowledgment.
fn sprout_ack() -> Controllers {
    let make =
        || -> Box<dyn Controller> { Box::new(SproutAck::new(Scale::Wide, PACKET, ACK_DELAY)) };
    Controllers { make: Box::new(make), program: None }
}

fn length(conditions: &Conditions<'_>) -> Duration {
    conditions.length.unwrap_or(LENGTH)
}

/// Runs a session that settles on an empty path, and then types, copies and downloads.
fn session(conditions: &Conditions<'_>, make: Make<'_>, parts: Parts) -> Outcome {
    let Parts { types, copies, downloads } = parts;
    let (seed, length) = (Seed::new(conditions.seed), length(conditions));
    let start = Instant::ZERO + SETTLING;
    let typist = Typist::new(start, if types { start + length } else { start }, seed);
    let (near, far) = copying(seed, typist, make);
    let source = Controlled::new(Box::new(Cubic::new(FULL)));
    let near = Beside { session: near, flow: downloads.then(|| Receiver::new(RIGHT_ADDRESS)) };
    let far = Beside { session: far, flow: downloads.then(|| Sender::new(source, LEFT_ADDRESS)) };
    let [uplink, downlink] = conditions.path().settling();
    let mut net = Net::new(near, far, uplink, downlink, seed);
    net.run_for(SETTLING);
    let [uplink, downlink] = conditions.path().links(net.now(), seed);
    net.reconfigure(uplink, downlink);
    net.right.session.owner.writes = copies;
    if let Some(sender) = &mut net.right.flow {
        sender.start(start);
    }
    net.run_for(length);
    let copied = net.left.session.owner.read();
    let downloaded = net.left.flow.as_ref().map_or(0, |it| it.arrivals().len() as u64);
    net.run_until(PATIENCE, |near, _| near.session.end.user.waiting(start).next().is_none());
    let typist = &net.left.session.end.user;
    Outcome {
        delays: typist.delays().to_vec(),
        waiting: typist.waiting(net.now()).collect(),
        copied,
        downloaded,
    }
}

#[cfg(test)]
mod tests {
    use rove_flows::path::Path;

    use super::*;

    fn samples(system: System, has_download: bool) -> Samples {
        let path: Path = "rtt=40ms,rate=4M,queue=200k".parse().expect("a path");
        let length = Some(Duration::from_secs(20));
        let system = Some(system);
        let conditions = Conditions { system, path: Some(&path), length, ..Conditions::NONE };
        run(&conditions, has_download).expect("a run")
    }

    #[test]
    fn keys_wait_for_the_queue_that_the_controller_of_a_copy_fills() {
        let of = |contender| samples(System::Flow(contender), false);
        let [cubic, ledbat] = [Contender::Cubic, Contender::LedbatShort].map(of);
        for samples in [&cubic, &ledbat] {
            assert_eq!((samples.missing, samples.figures.len()), (0, 3));
            assert!(samples.times.len() > 60 && samples.millis().all(|ms| ms >= 40.0));
            assert!((1_000_000..4_000_000).contains(&samples.figures[1]), "{:?}", samples.figures);
        }
        // A full queue of 200 kB takes 400 ms to drain.
        assert!(cubic.figures[0] > 200_000_000, "{:?}", cubic.figures);
        assert!(ledbat.figures[0] < 100_000_000, "{:?}", ledbat.figures);
    }

    #[test]
    fn a_copy_leaves_a_download_a_part_of_the_link() {
        let [copy, _, left, _] = samples(System::Flow(Contender::Cubic), true).figures[1..] else {
            panic!("five figures")
        };
        assert!((200_000..900_000).contains(&left), "{left} millionths");
        assert!((400_000..3_500_000).contains(&copy), "{copy} bit/s");
    }

    #[test]
    fn every_controller_copies_and_a_table_that_is_not_there_makes_no_samples() {
        for system in [
            System::Flow(Contender::NewReno),
            System::Flow(Contender::Ledbat),
            System::Flow(Contender::LowDelay),
            System::Flow(Contender::SproutAckWide),
            System::RemyBulk,
        ] {
            assert!(is_measured(system), "{}", system.name());
            let figures = samples(system, false).figures;
            assert!(figures[1] > 500_000, "{}: {figures:?}", system.name());
        }
        let absent = samples(System::RemyDeltaOne, false);
        assert_eq!((absent.missing, absent.times.len()), (1, 0));
    }
}
