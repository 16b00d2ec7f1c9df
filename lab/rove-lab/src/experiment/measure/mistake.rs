//! Wrong predictions: how long they stay on the user's screen, and of which kind they are.

use anyhow::Result;
use rove_replay::replay::figures::Figures;
use rove_runs::statistics::whole;
use rove_units::Duration;

use crate::experiment::conditions::{Conditions, RunFigure, Samples, nanos};
use crate::experiment::measure::response;

/// Figures of a run, in percent of all keys. Wrong text is left of the cursor. A colour is wrong by itself. A datagram reveals an older
/// prediction. A late mistake goes more than 100 ms after the host's answer. Flicker counts places.
pub(super) const FIGURES: [RunFigure; 7] = [
    RunFigure { name: "wrong (%)", scale: 1e-4, is_compared: false },
    RunFigure { name: "anywhere (%)", scale: 1e-4, is_compared: false },
    RunFigure { name: "colours (%)", scale: 1e-4, is_compared: false },
    RunFigure { name: "revealed (%)", scale: 1e-4, is_compared: false },
    RunFigure { name: "late (%)", scale: 1e-4, is_compared: false },
    RunFigure { name: "flicker", scale: 1.0, is_compared: false },
    RunFigure { name: "datagrams down", scale: 1.0, is_compared: true },
];

/// Returns how long something wrong stays after each key: 0 after most.
pub(super) fn run(conditions: &Conditions<'_>) -> Result<Samples> {
    let (script, run) = response::play(conditions)?;
    let figures = Figures::of(&script, &run);
    let (gone, counts) = figures.mistakes();
    let keys = figures.keys.max(1) as f64;
    let shares = counts.map(|count| whole(count as f64 / keys * 1e6));
    let [flicker, datagrams] = figures.flicker_and_datagrams();
    let right = figures.keys.saturating_sub(usize::try_from(gone.count())?);
    let times = gone.known().iter().map(|ms| nanos(Duration::from_secs_f64(ms / 1e3)));
    let times = core::iter::repeat_n(0, right).chain(times).collect();
    let figures = shares.into_iter().chain([flicker, datagrams]).collect();
    Ok(Samples { times, missing: gone.missing(), figures, ..Samples::default() })
}
