//! The end of sessions: how long a leaving user waits until the client knows of the server's end, if it ever does.

use anyhow::{Result, ensure};
use rove_headless::{Echo, Traffic};
use rove_link::LinkConfig;
use rove_session::ClientOutcome;
use rove_units::{Duration, Seed};

use super::report::{Line, Target};
use super::rules::{self, Rules};
use super::turns::Bench;

/// Round-trip times in milliseconds, and percentages of datagrams that are lost in each direction.
const RTTS: [u64; 3] = [10, 100, 500];
const LOSSES: [u8; 5] = [0, 1, 5, 10, 29];

/// Sessions in a round, for each rule and each path.
const SESSIONS: u32 = 40;

/// Keys before the user leaves. Chosen: both ends then know the path's loss.
const KEYS: u64 = 40;

/// Longest wait for the client's end. Chosen: longer than the 10 s after which a client gives up.
const PATIENCE: Duration = Duration::from_secs(15);

/// Time after the client's end in which datagrams count. Chosen: longer than the 5 s for which a server lingers.
const AFTER: Duration = Duration::from_secs(10);

/// The figures of a session's end, each with its unit.
const FIGURES: [(&str, &str); 3] =
    [("until the client has gone", "ms"), ("clients in doubt", "%"), ("datagrams of the end", "")];

/// Measures the ends of sessions by rove's rules and by Mosh's.
pub(super) fn measure(bench: &Bench) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for (rtt, loss) in RTTS.into_iter().flat_map(|rtt| LOSSES.map(|loss| (rtt, loss))) {
        let path = rules::path(rtt, loss);
        let what = format!("end over {rtt} ms at {loss} %");
        let end = |rules, seed| end(rules, &path, seed);
        let [wait, doubt, datagrams] = rules::compare(bench, &what, FIGURES, SESSIONS, end)?;
        lines.extend([wait, doubt.target(Target::Never), datagrams]);
    }
    Ok(lines)
}

/// Types for about ten seconds, and measures how the session ends when the user leaves. Returns the [`FIGURES`].
fn end(rules: Rules, path: &LinkConfig, seed: Seed) -> Result<[f64; 3]> {
    let mut net = rules.session(path, seed, (), Echo(b""));
    let pauses = seed.stream("pauses");
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
    ensure!(is_over, "the client stays");
    let wait = net.now().saturating_since(start);
    let is_sure = matches!(net.left.client.outcome(), Some(ClientOutcome::Ended(_)));
    net.run_for(AFTER);
    let datagrams = net.left.traffic.plus(net.right.traffic).datagrams;
    let doubt = if is_sure { 0.0 } else { 100.0 };
    #[expect(clippy::cast_precision_loss, reason = "some datagrams")]
    let datagrams = datagrams as f64;
    Ok([wait.as_secs_f64() * 1e3, doubt, datagrams])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns means over 20 ends: the user's wait in ms, and the percentage of clients in doubt.
    fn means(rules: Rules, loss_percent: u8) -> (f64, f64) {
        const SEEDS: u32 = 20;
        let path = rules::path(100, loss_percent);
        let ends = (0..SEEDS).map(|seed| end(rules, &path, Seed::new(seed.into())).unwrap());
        let sums = ends.fold([0.0; 2], |sums, end| [sums[0] + end[0], sums[1] + end[1]]);
        (sums[0] / f64::from(SEEDS), sums[1] / f64::from(SEEDS))
    }

    #[test]
    fn no_rove_is_left_in_doubt_where_the_rules_of_mosh_leave_one_in_four() {
        let (time, doubts) = means(Rules::Rove, 29);
        assert!(time <= 250.0 && doubts == 0.0, "{time} ms, {doubts}");
        let (time, doubts) = means(Rules::Mosh, 29);
        assert!(time >= 250.0 && (10.0..=50.0).contains(&doubts), "{time} ms, {doubts}");
        for rules in [Rules::Rove, Rules::Mosh] {
            let (time, doubts) = means(rules, 0);
            assert!(
                (100.0..=160.0).contains(&time) && doubts == 0.0,
                "{rules:?}: {time}, {doubts}"
            );
        }
    }
}
