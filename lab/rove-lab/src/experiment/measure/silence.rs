//! Silence: how long a client hears nothing from when a path is whole again, or goes another way.

use core::net::SocketAddr;

use rove_headless::{Act, Program, User};
use rove_link::LinkConfig;
use rove_replay::replay::Ends;
use rove_session::{Client, Server};
use rove_ssp::ReceiveError;
use rove_terminal::Terminal;
use rove_units::{Duration, Instant, Seed};

use crate::experiment::conditions::{Conditions, Samples, nanos};
use crate::experiment::measure::session::session;

/// Time between two keys of the user. Chosen: slow typing.
const KEY_INTERVAL: Duration = Duration::from_millis(300);

/// How long the session has been there when it happens: any time within a heartbeat from here on.
const BEFORE: Duration = Duration::from_secs(20);
const HEARTBEAT: Duration = Duration::from_secs(3);

/// How long an answer is waited for. Chosen: twenty heartbeats.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where the client is after it has moved (a documentation network, RFC 5737).
const MOVED: &str = "203.0.113.9:40000";

/// A user who types at a steady pace, and notes when the server was heard.
struct Typist {
    next: Instant,
    heard_at: Option<Instant>,
}

/// Whose network has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occasion {
    /// The network of somebody else.
    Beyond,
    /// The network of the client's computer.
    Own,
}

/// A program that echoes.
struct Echo;

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

impl Program for Echo {
    fn turn(&mut self, now: Instant, server: &mut Server) {
        let typed = server.host_input().to_vec();
        server.consume_host_input(typed.len());
        server.handle_host_output(now, &typed);
    }
}

/// Measures it for a user who types on, and whose computer notices nothing.
pub(super) fn run(conditions: &Conditions<'_>) -> Samples {
    measure(conditions, Occasion::Beyond)
}

/// Measures it for a user who waits, and whose computer tells rove's client that its network is back.
pub(super) fn run_return(conditions: &Conditions<'_>) -> Samples {
    measure(conditions, Occasion::Own)
}

fn measure(conditions: &Conditions<'_>, occasion: Occasion) -> Samples {
    let seed = Seed::new(conditions.seed);
    let [uplink, downlink] = conditions.path().links(Instant::ZERO, seed);
    let typist = Typist { next: Instant::ZERO, heard_at: None };
    let mut net = session(conditions, typist, Echo);
    net.run_for(BEFORE + HEARTBEAT.mul_f64(seed.stream("phase").at(0).unit()));
    if occasion == Occasion::Own {
        net.left.user.next = Instant::FAR_FUTURE;
        net.run_for(KEY_INTERVAL);
    }
    let outage = Duration::from_secs_f64(conditions.value());
    if outage == Duration::ZERO {
        net.move_left(MOVED.parse::<SocketAddr>().expect("a literal address"));
    } else {
        net.reconfigure(LinkConfig::outage(), LinkConfig::outage());
        net.run_for(outage);
        net.reconfigure(uplink, downlink);
    }
    let whole_at = net.now();
    if occasion == Occasion::Own && conditions.system().ends() == Ends::Rove {
        net.left.client.handle_network_change(whole_at);
    }
    net.run_until(PATIENCE, |client, _| client.user.heard_at.is_some_and(|at| at > whole_at));
    let heard_at = net.left.user.heard_at.filter(|at| *at > whole_at);
    let times: Vec<u64> =
        heard_at.map(|at| nanos(at.saturating_since(whole_at))).into_iter().collect();
    Samples { missing: u64::from(times.is_empty()), times, ..Samples::default() }
}

#[cfg(test)]
mod tests {
    use rove_flows::path::Path;

    use super::*;
    use crate::experiment::system::System;

    fn silence(system: System, outage: f64) -> f64 {
        let path: Path = "rtt=100ms".parse().expect("a path");
        let conditions = Conditions {
            system: Some(system),
            path: Some(&path),
            value: Some(outage),
            seed: 3,
            ..Conditions::NONE
        };
        one(&run(&conditions))
    }

    fn one(samples: &Samples) -> f64 {
        assert_eq!(samples.missing, 0);
        samples.millis().next().expect("heard")
    }

    #[test]
    fn a_client_that_is_told_of_its_network_is_back_within_a_round_trip_and_a_half() {
        for rtt in [20.0, 100.0, 500.0] {
            let path: Path = format!("rtt={rtt}ms").parse().expect("a path");
            for outage in [0.0, 10.0, 600.0, 28_800.0] {
                let conditions = Conditions {
                    system: Some(System::Rove),
                    path: Some(&path),
                    value: Some(outage),
                    seed: 3,
                    ..Conditions::NONE
                };
                let told = one(&run_return(&conditions));
                assert!(told <= 1.5 * rtt + 50.0, "{rtt} {outage}: {told}");
            }
        }
    }

    #[test]
    fn nobody_is_heard_before_the_path_is_whole_and_everybody_soon_after() {
        for system in [System::Rove, System::MoshRules] {
            for outage in [0.0, 1.0, 60.0] {
                let silence = silence(system, outage);
                assert!(silence > 49.0 && silence < 5_000.0, "{system:?} {outage}: {silence}");
            }
        }
    }
}
