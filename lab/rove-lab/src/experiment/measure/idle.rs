//! An idle hour: how often an end wakes up, and how many datagrams travel, while nobody types and no program writes.

use core::net::SocketAddr;

use rove_headless::Program;
use rove_link::net::{End, Net};
use rove_session::Server;
use rove_units::{Duration, Instant, Seed};

use crate::experiment::conditions::{Conditions, RunFigure, Samples, nanos};
use crate::experiment::measure::session::ends;

/// How long the session has been there when the hour begins.
const BEFORE: Duration = Duration::from_secs(60);

/// An hour.
const HOUR: Duration = Duration::from_secs(3_600);

/// Figures of a run, beside the times between two wake-ups of the client.
pub(super) const FIGURES: [RunFigure; 3] = [
    RunFigure { name: "client's wake-ups in an hour", scale: 1.0, is_compared: true },
    RunFigure { name: "server's wake-ups in an hour", scale: 1.0, is_compared: true },
    RunFigure { name: "datagrams in an hour", scale: 1.0, is_compared: true },
];

/// A program that does nothing.
struct Quiet;

/// An end, and the instants at which its computer has to do something for it.
struct Sleeping<E> {
    end: E,
    woken: Vec<Instant>,
    datagrams: u64,
}

impl Program for Quiet {
    fn turn(&mut self, _: Instant, _: &mut Server) {}
}

impl<E: End> Sleeping<E> {
    const fn new(end: E) -> Self {
        Self { end, woken: Vec::new(), datagrams: 0 }
    }

    /// Counts a wake-up of the end. All its work at one instant is one wake-up.
    fn wake(&mut self, now: Instant) {
        if self.woken.last() != Some(&now) {
            self.woken.push(now);
        }
    }
}

impl<E: End> End for Sleeping<E> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        self.wake(now);
        self.end.handle_datagram(now, source, payload);
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.end.poll_timeout().is_some_and(|due| due <= now) {
            self.wake(now);
        }
        self.end.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        let transmit = self.end.poll_transmit(now)?;
        self.datagrams += 1;
        Some(transmit)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.end.poll_timeout()
    }
}

/// Measures it.
pub(super) fn run(conditions: &Conditions<'_>) -> Samples {
    let (client, server) = ends(conditions, (), Quiet);
    let seed = Seed::new(conditions.seed);
    let [uplink, downlink] = conditions.path().links(Instant::ZERO, seed);
    let mut net = Net::new(Sleeping::new(client), Sleeping::new(server), uplink, downlink, seed);
    net.run_for(BEFORE);
    (net.left.woken, net.right.woken) = (Vec::new(), Vec::new());
    (net.left.datagrams, net.right.datagrams) = (0, 0);
    net.run_for(HOUR);
    let pauses = net.left.woken.windows(2).map(|two| two[1].saturating_since(two[0]));
    let count = |woken: &[Instant]| u64::try_from(woken.len()).unwrap_or(u64::MAX);
    Samples {
        times: pauses.map(nanos).collect(),
        missing: 0,
        figures: vec![
            count(&net.left.woken),
            count(&net.right.woken),
            net.left.datagrams + net.right.datagrams,
        ],
        ..Samples::default()
    }
}

#[cfg(test)]
mod tests {
    use rove_flows::path::Path;

    use super::*;
    use crate::experiment::system::System;

    #[test]
    fn two_roves_wake_up_a_third_as_often_as_by_the_rules_of_mosh() {
        let path: Path = "rtt=100ms".parse().expect("a path");
        let figures = |system| {
            let conditions =
                Conditions { system: Some(system), path: Some(&path), ..Conditions::NONE };
            run(&conditions).figures
        };
        let (rove, stock) = (figures(System::Rove), figures(System::MoshRules));
        assert!((2_390..=2_400).contains(&stock[2]), "{stock:?}");
        for (rove, stock) in rove.iter().zip(stock) {
            assert!(3 * rove <= stock, "{rove} beside {stock}");
        }
    }
}
