//! An idle hour, without keys and output: how often each end wakes up, and how many datagrams travel.

use core::net::SocketAddr;

use anyhow::Result;
use rove_headless::Program;
use rove_link::LinkConfig;
use rove_link::net::{End, Net};
use rove_session::Server;
use rove_units::{Duration, Instant, Seed};

use super::report::Line;
use super::rules::{self, Rules};
use super::turns::Bench;

/// The round-trip time in milliseconds, and percentages of datagrams that are lost in each direction.
const RTT: u64 = 100;
const LOSSES: [u8; 4] = [0, 1, 5, 29];

/// Sessions in a round, for each rule and each path.
const SESSIONS: u32 = 4;

/// The session's age when the hour begins.
const BEFORE: Duration = Duration::from_secs(60);

/// An hour.
const HOUR: Duration = Duration::from_secs(3_600);

/// The figures of an idle hour, each with its unit.
const FIGURES: [(&str, &str); 3] =
    [("client wakes up", "times"), ("server wakes up", "times"), ("datagrams", "")];

/// A program that does nothing.
struct Quiet;

/// An end, with the numbers of its wake-ups and its datagrams.
struct Sleeping<E> {
    end: E,
    woken: u32,
    woken_at: Option<Instant>,
    datagrams: u32,
}

impl Program for Quiet {
    fn turn(&mut self, _: Instant, _: &mut Server) {}
}

impl<E: End> Sleeping<E> {
    const fn new(end: E) -> Self {
        Self { end, woken: 0, woken_at: None, datagrams: 0 }
    }

    /// Counts a wake-up. All work of the end at the same instant is a single wake-up.
    fn wake(&mut self, now: Instant) {
        self.woken += u32::from(self.woken_at.replace(now) != Some(now));
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

/// Measures the hour by rove's rules and by Mosh's.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for loss in LOSSES {
        let path = rules::path(RTT, loss);
        let what = format!("an idle hour at {loss} %");
        let hour = |rules, seed| Ok(hour(rules, &path, seed));
        lines.extend(rules::compare(bench, &what, FIGURES, SESSIONS, hour)?);
    }
    Ok(lines)
}

fn hour(rules: Rules, path: &LinkConfig, seed: Seed) -> [f64; 3] {
    let (client, server) = rules.ends(seed, (), Quiet);
    let (client, server) = (Sleeping::new(client), Sleeping::new(server));
    let mut net = Net::new(client, server, path.clone(), path.clone(), seed);
    let counts = |net: &Net<Sleeping<_>, Sleeping<_>>| {
        [net.left.woken, net.right.woken, net.left.datagrams + net.right.datagrams]
    };
    net.run_for(BEFORE);
    let before = counts(&net);
    net.run_for(HOUR);
    let after = counts(&net);
    [0, 1, 2].map(|figure| f64::from(after[figure] - before[figure]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_roves_wake_up_a_third_as_often_as_by_the_rules_of_mosh() {
        let figures = |rules| hour(rules, &rules::path(RTT, 0), Seed::new(1));
        let (rove, stock) = (figures(Rules::Rove), figures(Rules::Mosh));
        assert!((2_390.0..=2_400.0).contains(&stock[2]), "{stock:?}");
        for (rove, stock) in rove.iter().zip(stock) {
            assert!(3.0 * rove <= stock, "{rove} beside {stock}");
        }
    }
}
