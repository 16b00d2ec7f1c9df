//! The onset of loss: how long the echoes of the first keys take after a path begins to lose datagrams.

use rove_headless::Echo;
use rove_runs::statistics::whole;
use rove_units::{Duration, Seed};

use crate::experiment::conditions::{Conditions, Samples, nanos};
use crate::experiment::measure::session::session_over;

/// Keys that are echoed before the path begins to lose datagrams. Chosen: both ends have then seen no loss for a while.
const SETTLING: u64 = 100;

/// Least and most milliseconds between an echo and the next key. Chosen: a typist looks at the echo, and types on.
const PAUSE_MILLIS: [u64; 2] = [40, 100];

/// How long the user waits for an echo. Chosen: far beyond any echo on a path that lets anything through.
const PATIENCE: Duration = Duration::from_secs(30);

/// A program that writes each key into the first column.
const PROGRAM: Echo = Echo(b"\r");

/// Measures the echo delays of as many keys as the value says. Each key is typed after the previous key's echo.
pub(super) fn run(conditions: &Conditions<'_>) -> Samples {
    let seed = Seed::new(conditions.seed);
    let mut net = session_over(conditions, conditions.path().settling(), (), PROGRAM);
    let pauses = seed.stream("pauses");
    let [least, most] = PAUSE_MILLIS;
    let mut samples = Samples::default();
    for (number, key) in (0..SETTLING + keys(conditions)).zip((b'a'..=b'z').cycle()) {
        net.run_for(Duration::from_millis(least + pauses.at(number).below(most - least)));
        let typed_at = net.now();
        if number == SETTLING {
            let [uplink, downlink] = conditions.path().links(typed_at, seed);
            net.reconfigure(uplink, downlink);
        }
        net.left.client.handle_input(typed_at, &[key]);
        let echo = char::from(key).to_string();
        let is_echoed = net.run_until(PATIENCE, |client, _| client.row_text(0) == echo);
        if number >= SETTLING {
            let time = nanos(net.now().saturating_since(typed_at));
            samples.times.extend(is_echoed.then_some(time));
            samples.missing += u64::from(!is_echoed);
        }
    }
    samples
}

/// Returns how many keys are measured.
fn keys(conditions: &Conditions<'_>) -> u64 {
    whole(conditions.value().floor())
}

#[cfg(test)]
mod tests {
    use rove_flows::path::Path;

    use super::*;
    use crate::experiment::system::System;

    /// Returns mean and 90th percentile of the first keys of a hundred sessions, in ms.
    fn delays(path: &str, keys: f64) -> [f64; 2] {
        let path: Path = path.parse().expect("a path");
        let mut times = Vec::new();
        for seed in 1..=100 {
            let samples = run(&Conditions {
                system: Some(System::RoveUnpredicted),
                path: Some(&path),
                value: Some(keys),
                seed,
                ..Conditions::NONE
            });
            assert_eq!(samples.missing, 0);
            times.extend(samples.millis());
        }
        times.sort_unstable_by(f64::total_cmp);
        let count = u32::try_from(times.len()).expect("some hundred");
        [times.iter().sum::<f64>() / f64::from(count), times[times.len() * 9 / 10]]
    }

    #[test]
    fn a_path_without_loss_takes_a_round_trip_for_each_key() {
        let [mean, p90] = delays("rtt=100ms", 20.0);
        assert!((100.0..103.0).contains(&mean) && (100.0..103.0).contains(&p90), "{mean} {p90}");
    }

    #[test]
    fn the_first_keys_after_the_onset_of_loss_are_nearly_as_fast_as_later_ones() {
        let [mean, p90] = delays("rtt=100ms,loss=29%", 20.0);
        assert!(mean <= 150.0 && p90 <= 220.0, "{mean} {p90}");
        let [mean, p90] = delays("rtt=100ms,loss=29%", 150.0);
        assert!(mean <= 132.0 && p90 <= 164.0, "{mean} {p90}");
    }
}
