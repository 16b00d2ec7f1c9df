//! Wrong predictions: how long they stay on the user's screen, and of which kind they are.

use anyhow::Result;
use rove_flows::course::ABSENT;
use rove_replay::replay::figures::Figures;
use rove_replay::replay::origin::Origin;
use rove_runs::statistics::{Times, to_float, whole};
use rove_units::Duration;

use crate::experiment::conditions::{Conditions, RunFigure, Samples, nanos};
use crate::experiment::measure::response;

/// Figures of a run. Percentages are of keys. Wrong is text left of the cursor. A datagram reveals older predictions, and
/// late mistakes stay over 100 ms after the host's answer. Times are means. Flicker counts cells.
pub(super) const FIGURES: [RunFigure; 16] = [
    RunFigure { name: "wrong (%)", scale: 1e-4, is_compared: false },
    RunFigure { name: "anywhere (%)", scale: 1e-4, is_compared: false },
    RunFigure { name: "colours (%)", scale: 1e-4, is_compared: false },
    RunFigure { name: "revealed (%)", scale: 1e-4, is_compared: false },
    RunFigure { name: "late (%)", scale: 1e-4, is_compared: false },
    RunFigure { name: "late echo (%)", scale: 1e-4, is_compared: false },
    RunFigure { name: "overwriting (%)", scale: 1e-4, is_compared: false },
    RunFigure { name: "field (%)", scale: 1e-4, is_compared: false },
    RunFigure { name: "other (%)", scale: 1e-4, is_compared: false },
    RunFigure::of_time("late echo"),
    RunFigure::of_time("overwriting"),
    RunFigure::of_time("field"),
    RunFigure::of_time("other"),
    RunFigure { name: "flicker", scale: 1.0, is_compared: true },
    RunFigure { name: "datagrams down", scale: 1.0, is_compared: true },
    RunFigure { is_compared: true, ..RunFigure::of_time("response") },
];

/// Returns for each key how long a mistake after it stays on the screen; 0 without a mistake.
pub(super) fn run(conditions: &Conditions<'_>) -> Result<Samples> {
    let (script, run) = response::play(conditions)?;
    let figures = Figures::of(&script, &run);
    let (gone, counts) = figures.mistakes();
    let origins = Origin::stays(&script, &run);
    let of_origins = origins.each_ref().map(Times::count);
    let counts = counts.into_iter().map(|count| count as u64).chain(of_origins);
    let shares = counts.map(|count| whole(to_float(count) / figures.keys as f64 * 1e6));
    let of_millis = |ms: f64| nanos(Duration::from_secs_f64(ms / 1e3));
    let stays = origins.each_ref().map(|stays| stays.mean().map_or(ABSENT, of_millis));
    let [flicker, datagrams] = figures.flicker_and_datagrams();
    let right = figures.keys.saturating_sub(usize::try_from(gone.count())?);
    let answered: Vec<u64> = run.response_times(&script).into_iter().flatten().map(nanos).collect();
    let response = answered.iter().sum::<u64>() / u64::try_from(answered.len())?.max(1);
    let times = gone.known().iter().copied().map(of_millis);
    let times = core::iter::repeat_n(0, right).chain(times).collect();
    let figures = shares.chain(stays).chain([flicker, datagrams, response]).collect();
    Ok(Samples { times, missing: gone.missing(), figures, ..Samples::default() })
}

#[cfg(test)]
mod tests {
    use rove_flows::path::Path;
    use rove_replay::trace::{Event, Record, Trace};
    use rove_terminal::Size;
    use rove_units::Instant;

    use super::*;
    use crate::experiment::conditions::Recording;
    use crate::experiment::system::System;

    /// Returns the figures of 40 keys, each echoed after some milliseconds.
    fn figures(system: System, echo_ms: u64) -> Vec<u64> {
        let key = |number: u64| {
            let (byte, at) = (vec![b'a' + u8::try_from(number % 26)?], number * 400);
            let record = |at, event| Record { at: Instant::from_millis(at), event };
            Ok([record(at, Event::User(byte.clone())), record(at + echo_ms, Event::Host(byte))])
        };
        let keys: Result<Vec<_>> = (1..=40).map(key).collect();
        let trace = Trace { size: Size::DEFAULT, records: keys.expect("letters").concat() };
        let recording = Recording { name: "made".to_owned(), trace };
        let path: Path = "rtt=200ms".parse().expect("a path");
        let (system, recording) = (Some(system), Some(&recording));
        let conditions = Conditions { system, recording, path: Some(&path), ..Conditions::NONE };
        run(&conditions).expect("a run").figures
    }

    #[test]
    fn without_the_wait_a_slow_echo_is_not_predicted_and_a_quick_one_needs_fewer_datagrams() {
        let place = |name| FIGURES.iter().position(|it| it.name == name).expect("a figure");
        let (datagrams, response) = (place("datagrams down"), place("response"));
        let of = |echo_ms| {
            [System::MoshRules, System::MoshRulesWithoutWait].map(|it| figures(it, echo_ms))
        };
        let [with, without] = of(30);
        assert!(with[response] * 10 < without[response], "{with:?} {without:?}");
        let [with, without] = of(2);
        assert!(with[datagrams] > without[datagrams], "{with:?} {without:?}");
    }
}
