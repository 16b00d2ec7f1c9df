//! Sprout's belief in the rate of a recorded link that is always used, and its forecast.

use rove_congestion::sprout::{Bayesian, Estimator, FORECAST_TICKS, TICK};
use rove_link::OPPORTUNITY;
use rove_runs::statistics::whole;
use rove_units::Duration;

use crate::experiment::conditions::{Conditions, Moment, RunFigure, Samples, nanos};

/// Length of the film. Chosen: in this time a rate falls and recovers.
const FILM: Duration = Duration::from_secs(12);

/// Ticks from one picture of the film to the next. Chosen: 12 pictures a second. The file has 170 kB.
pub(in crate::experiment) const PICTURE_TICKS: usize = 4;

/// The estimator's rates that one bar sums up. An outage has its own bar. Chosen: 33 bars.
const BAR_BINS: usize = 8;

/// Shares in a run: of ticks whose forecast came true, and of the link's packets that were forecast.
pub(super) const FIGURES: [RunFigure; 2] = [
    RunFigure { name: "kept (%)", scale: 1e-4, is_compared: false },
    RunFigure { name: "of the link (%)", scale: 1e-4, is_compared: false },
];

/// Returns how long the link takes to carry the forecast of each tick.
pub(super) fn run(conditions: &Conditions<'_>) -> Samples {
    let Some(schedule) = &conditions.path().uplink.schedule else { return Samples::absent() };
    let packets = schedule.opportunity.get() / OPPORTUNITY.get();
    let times: Vec<Duration> = schedule.trace.times().collect();
    let counts = counts(&times, packets);
    let end = conditions.length.unwrap_or(schedule.trace.period());
    let shown = nanos(end.saturating_sub(FILM))..nanos(end);
    let (mut estimator, mut samples) = (Bayesian::new(), Samples::default());
    let (mut kept, mut promised, mut carried) = (0, 0, 0);
    for (tick, &count) in counts.iter().enumerate() {
        estimator.tick(Some(count as f64));
        let later = counts.get(tick + 1..).unwrap_or_default();
        if later.len() < FORECAST_TICKS {
            break;
        }
        let moment = moment(nanos(TICK) * (tick as u64 + 1), &estimator, later);
        let ([.., all], [.., came]) = (moment.forecast, moment.coming);
        kept += u64::from(all <= came);
        (promised, carried) = (promised + all, carried + came);
        match ticks_for(all, later) {
            Some(ticks) => samples.times.push(ticks * nanos(TICK)),
            None => samples.missing += 1,
        }
        if shown.contains(&moment.at) && tick % PICTURE_TICKS == 0 {
            samples.film.push(moment);
        }
    }
    let share = |of: u64, all: u64| whole(of as f64 / all.max(1) as f64 * 1e6);
    let ticks = samples.times.len() as u64 + samples.missing;
    samples.figures = vec![share(kept, ticks), share(promised, carried)];
    samples
}

/// Returns the packets that a link can carry in each whole tick.
fn counts(times: &[Duration], packets: u64) -> Vec<u64> {
    let tick = |time: &Duration| usize::try_from(nanos(*time) / nanos(TICK)).unwrap_or(usize::MAX);
    let mut counts = vec![0; times.last().map_or(0, tick)];
    for time in times {
        counts.get_mut(tick(time)).into_iter().for_each(|count| *count += packets);
    }
    counts
}

/// Returns the estimator's belief and forecast, and the packets that come later.
fn moment(at: u64, estimator: &Bayesian, later: &[u64]) -> Moment {
    let (outage, rates) = estimator.belief().split_at(1);
    let bars = [outage].into_iter().chain(rates.chunks(BAR_BINS));
    let share = |bins: &[f32]| whole(bins.iter().map(|it| f64::from(*it)).sum::<f64>() * 1e6);
    let mut sum = 0;
    let coming = core::array::from_fn(|tick| {
        sum += later[tick];
        sum
    });
    let belief = bars.map(share).collect();
    Moment { at, belief, forecast: estimator.forecast().map(whole), coming }
}

/// Returns in how many ticks the link carries `packets` packets. `None` if the recording ends sooner.
fn ticks_for(packets: u64, later: &[u64]) -> Option<u64> {
    let mut counts = later.iter();
    let (mut ticks, mut came) = (0, 0);
    while came < packets {
        came += counts.next()?;
        ticks += 1;
    }
    Some(ticks)
}

#[cfg(test)]
mod tests {
    use rove_flows::path::Path;
    use rove_link::{Schedule, Synthetic};
    use rove_units::Seed;

    use super::*;

    #[test]
    fn packets_are_counted_in_whole_ticks_and_awaited_in_order() {
        let times = [0, 19, 20, 59, 60, 61].map(Duration::from_millis);
        assert_eq!(counts(&times, 2), [4, 2, 2]);
        for (packets, ticks) in [(0, Some(0)), (1, Some(2)), (3, Some(2)), (4, Some(4)), (5, None)]
        {
            assert_eq!(ticks_for(packets, &[0, 3, 0, 1]), ticks, "{packets} packets");
        }
    }

    /// The scenario `sprout-belief` gives this number as a reason.
    #[test]
    fn of_links_that_move_as_the_model_says_fewer_ticks_keep_their_forecast_than_it_promises() {
        let kept = |seed| {
            let model = Synthetic { length: Duration::from_secs(1_000), ..Synthetic::default() };
            let trace = model.trace(Seed::new(seed).stream("belief")).expect("a trace");
            let mut path = Path::wire();
            path.uplink.schedule = Some(Schedule::new(trace));
            run(&Conditions { path: Some(&path), ..Conditions::NONE }).figures[0] as f64 / 1e4
        };
        let all: Vec<f64> = (1..=4).map(kept).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        assert!((mean - 94.1).abs() < 0.1, "{mean} of {all:?}");
    }
}
