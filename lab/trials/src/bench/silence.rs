//! Silence: how long a client hears nothing after its path works again, or after its address has changed.

use core::net::SocketAddr;

use anyhow::{Context, Result};
use rove_headless::{Act, Echo, User};
use rove_link::LinkConfig;
use rove_session::Client;
use rove_ssp::ReceiveError;
use rove_terminal::Terminal;
use rove_units::{Duration, Instant, Seed};

use super::report::{Line, Target};
use super::rules::{self, Rules};
use super::turns::Bench;

/// The round-trip time in milliseconds.
const RTT: u64 = 100;

/// Outages in seconds. 0 means a change of address in place of an outage. During `ABSENCES` the user does not type.
const OUTAGES: [u64; 4] = [0, 1, 10, 600];
const ABSENCES: [u64; 4] = [0, 10, 600, 28_800];

/// Sessions in a round, for each rule and each outage.
const SESSIONS: u32 = 20;

/// Most milliseconds until a client hears its server, if it is told of its network: 1.5 round trips, and 50 ms.
const TOLD_MILLIS: f64 = 200.0;

/// Time between two of the user's keys. Chosen: slow typing.
const KEY_INTERVAL: Duration = Duration::from_millis(300);

/// The session's least age when its path changes. A random part of a heartbeat is added.
const BEFORE: Duration = Duration::from_secs(20);
const HEARTBEAT: Duration = Duration::from_secs(3);

/// Longest wait for the server. Chosen: twenty heartbeats.
const PATIENCE: Duration = Duration::from_secs(60);

/// The client's address after a change (in a documentation network, RFC 5737).
const MOVED: &str = "203.0.113.9:40000";

/// A user who types at a steady pace, and who records when the client last heard its server.
struct Typist {
    next: Instant,
    heard_at: Option<Instant>,
}

/// The network in which the change happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occasion {
    /// A network somewhere on the path. The client's computer learns nothing of the change.
    Beyond,
    /// The network of the client's computer, which tells the client of the change.
    Own,
}

impl User for Typist {
    fn next_act(&mut self, now: Instant, _: &Client, _: &Terminal) -> Option<Act> {
        (self.next <= now).then(|| {
            self.next = now + KEY_INTERVAL;
            Act::Type(b"a".to_vec())
        })
    }

    fn poll_timeout(&self, _: &Client) -> Option<Instant> {
        Some(self.next)
    }

    fn handle_datagram(&mut self, now: Instant, _: &Client, result: &Result<(), ReceiveError>) {
        if result.is_ok() {
            self.heard_at = Some(now);
        }
    }
}

/// Measures the silence for a user who goes on typing, and whose computer notices nothing.
pub(super) fn measure_roaming(bench: &Bench) -> Result<Vec<Line>> {
    measure(bench, OUTAGES, Occasion::Beyond)
}

/// Measures the silence for a user who waits, and whose computer tells rove's client that the network is back.
pub(super) fn measure_return(bench: &Bench) -> Result<Vec<Line>> {
    let lines = measure(bench, ABSENCES, Occasion::Own)?;
    Ok(lines.into_iter().map(|line| line.target(Target::AtMost(TOLD_MILLIS))).collect())
}

fn measure(bench: &Bench, outages: [u64; 4], occasion: Occasion) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for outage in outages {
        let what = if outage == 0 {
            "a new address".into()
        } else {
            format!("{outage} s without network")
        };
        let figure = [("until the server is heard", "ms")];
        lines.extend(rules::compare(bench, &what, figure, SESSIONS, |rules, seed| {
            Ok([silence(rules, occasion, RTT, outage, seed)?])
        })?);
    }
    Ok(lines)
}

/// Returns the milliseconds until the client hears its server.
fn silence(rules: Rules, occasion: Occasion, rtt: u64, outage: u64, seed: Seed) -> Result<f64> {
    let path = rules::path(rtt, 0);
    let typist = Typist { next: Instant::ZERO, heard_at: None };
    let mut net = rules.session(&path, seed, typist, Echo(b""));
    net.run_for(BEFORE + HEARTBEAT.mul_f64(seed.stream("phase").at(0).unit()));
    if occasion == Occasion::Own {
        net.left.user.next = Instant::FAR_FUTURE;
        net.run_for(KEY_INTERVAL);
    }
    if outage == 0 {
        net.move_left(MOVED.parse::<SocketAddr>().expect("a literal address"));
    } else {
        net.reconfigure(LinkConfig::outage(), LinkConfig::outage());
        net.run_for(Duration::from_secs(outage));
        net.reconfigure(path.clone(), path);
    }
    let whole_at = net.now();
    if occasion == Occasion::Own && rules == Rules::Rove {
        net.left.client.handle_network_change(whole_at);
    }
    net.run_until(PATIENCE, |client, _| client.user.heard_at.is_some_and(|at| at > whole_at));
    let heard_at = net.left.user.heard_at.filter(|at| *at > whole_at);
    let heard_at = heard_at.context("the server is never heard")?;
    Ok(heard_at.saturating_since(whole_at).as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_is_told_of_its_network_is_back_within_a_round_trip_and_a_half() {
        for rtt in [20, 100, 500] {
            for outage in [0, 10, 600, 28_800] {
                let told = silence(Rules::Rove, Occasion::Own, rtt, outage, Seed::new(3)).unwrap();
                #[expect(clippy::cast_precision_loss, reason = "some hundred ms")]
                let bound = 1.5 * rtt as f64 + 50.0;
                assert!(told <= bound, "{rtt} {outage}: {told}");
            }
        }
    }

    #[test]
    fn nobody_is_heard_before_the_path_is_whole_and_everybody_soon_after() {
        for rules in [Rules::Rove, Rules::Mosh] {
            for outage in [0, 1, 60] {
                let silence = silence(rules, Occasion::Beyond, RTT, outage, Seed::new(3)).unwrap();
                assert!(silence > 49.0 && silence < 5_000.0, "{rules:?} {outage}: {silence}");
            }
        }
    }
}
