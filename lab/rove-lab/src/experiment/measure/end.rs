//! The end: how long a user who leaves waits for the server to know, and how often that stays in doubt.

use rove_headless::{Program, Traffic};
use rove_session::{ClientOutcome, Server};
use rove_units::{Duration, Instant, Seed};

use crate::experiment::conditions::{Conditions, RunFigure, Samples, nanos};
use crate::experiment::measure::session::session;

/// Keys that are typed before the user leaves: both ends know by then what the path loses.
const KEYS: u64 = 40;

/// How long the end is waited for. Chosen: a client gives up after 10 s.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long the session has no client any more when its datagrams are counted. Chosen: servers linger for 5 s.
const AFTER: Duration = Duration::from_secs(10);

/// Figures of a run, beside the user's wait.
pub(super) const FIGURES: [RunFigure; 2] = [
    RunFigure { name: "clients in doubt (%)", scale: 100.0, is_compared: false },
    RunFigure { name: "datagrams of the end", scale: 1.0, is_compared: true },
];

/// A program that echoes.
struct Echo;

impl Program for Echo {
    fn turn(&mut self, now: Instant, server: &mut Server) {
        let typed = server.host_input().to_vec();
        if !typed.is_empty() {
            server.consume_host_input(typed.len());
            server.handle_host_output(now, &typed);
        }
    }
}

/// Measures the time from the user's leave to the end of the client, after ten seconds of typing.
pub(super) fn run(conditions: &Conditions<'_>) -> Samples {
    let mut net = session(conditions, (), Echo);
    let pauses = Seed::new(conditions.seed).stream("pauses");
    for key in 0..KEYS {
        net.run_for(Duration::from_millis(100 + pauses.at(key).below(300)));
        let now = net.now();
        net.left.client.handle_input(now, b"x");
    }
    net.run_for(Duration::from_millis(pauses.at(KEYS).below(2_000)));
    let start = net.now();
    let from_now_on = Traffic { from: start, ..Traffic::default() };
    (net.left.traffic, net.right.traffic) = (from_now_on, from_now_on);
    net.left.client.shutdown(start, "");
    let is_over = net.run_until(PATIENCE, |client, _| client.client.outcome().is_some());
    let time = nanos(net.now().saturating_since(start));
    let is_sure = matches!(net.left.client.outcome(), Some(ClientOutcome::Ended(_)));
    net.run_for(AFTER);
    let datagrams = net.left.traffic.plus(net.right.traffic).datagrams;
    Samples {
        times: is_over.then_some(time).into_iter().collect(),
        missing: u64::from(!is_over),
        figures: vec![u64::from(!is_sure), datagrams],
        ..Samples::default()
    }
}

#[cfg(test)]
mod tests {
    use rove_flows::path::Path;

    use super::*;
    use crate::experiment::system::System;

    /// Returns the means of so many ends: the wait in ms, and the share in doubt.
    fn means(system: System, path: &str) -> (f64, f64) {
        const SEEDS: u32 = 20;
        let path: Path = path.parse().expect("a path");
        let samples: Vec<Samples> = (0..SEEDS)
            .map(|seed| {
                let seed = seed.into();
                let system = Some(system);
                run(&Conditions { system, path: Some(&path), seed, ..Conditions::NONE })
            })
            .collect();
        let times: f64 = samples.iter().flat_map(Samples::millis).sum();
        let doubts = samples.iter().filter(|samples| samples.figures[0] > 0).count();
        let doubts = u32::try_from(doubts).expect("a few");
        (times / f64::from(SEEDS), f64::from(doubts) / f64::from(SEEDS))
    }

    #[test]
    fn no_rove_is_left_in_doubt_where_the_rules_of_mosh_leave_one_in_four() {
        let (time, doubts) = means(System::Rove, "rtt=100ms,loss=29%");
        assert!(time <= 250.0 && doubts == 0.0, "{time} ms, {doubts}");
        let (time, doubts) = means(System::MoshRules, "rtt=100ms,loss=29%");
        assert!(time >= 250.0 && (0.1..=0.5).contains(&doubts), "{time} ms, {doubts}");
        for system in [System::Rove, System::MoshRules] {
            let (time, doubts) = means(system, "rtt=100ms");
            assert!(
                (100.0..=160.0).contains(&time) && doubts == 0.0,
                "{system:?}: {time}, {doubts}"
            );
        }
    }
}
