//! Times between the delivery opportunities of a recorded link, and the power law of the long ones.

use rove_runs::statistics::whole;
use rove_units::Duration;

use crate::experiment::conditions::{Conditions, RunFigure, Samples, nanos};

/// The shortest gap that belongs to the tail, the long gaps. Source: Sprout paper, section 3.1.
const TAIL: Duration = Duration::from_millis(20);

/// Figures of a run beside the gaps of the tail.
pub(super) const FIGURES: [RunFigure; 3] = [
    RunFigure { name: "below 20 ms (%)", scale: 1e-4, is_compared: false },
    RunFigure { name: "exponent", scale: 1e-3, is_compared: false },
    RunFigure { name: "longest (ms)", scale: 1e-6, is_compared: false },
];

/// Returns the gaps of the tail, or an absent result for a path without recorded opportunities.
pub(super) fn run(conditions: &Conditions<'_>) -> Samples {
    let Some(schedule) = &conditions.path().uplink.schedule else { return Samples::absent() };
    let times: Vec<Duration> = schedule.trace.times().collect();
    of_gaps(&times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect::<Vec<_>>())
}

fn of_gaps(gaps: &[Duration]) -> Samples {
    let tail: Vec<Duration> = gaps.iter().copied().filter(|gap| *gap >= TAIL).collect();
    let Some(longest) = tail.iter().max() else { return Samples::empty() };
    let below = (gaps.len() - tail.len()) as f64 / gaps.len() as f64;
    let figures = vec![whole(below * 1e6), whole(exponent(&tail) * 1e3), nanos(*longest)];
    Samples { times: tail.iter().copied().map(nanos).collect(), figures, ..Samples::default() }
}

/// Returns the exponent of the power law of the tail, whose gaps are whole milliseconds. Source: Clauset, Shalizi,
/// Newman, *Power-law distributions in empirical data* (2009), equation 3.7.
fn exponent(tail: &[Duration]) -> f64 {
    let least = TAIL.as_secs_f64() - 0.5e-3;
    let logs: f64 = tail.iter().map(|gap| (gap.as_secs_f64() / least).ln()).sum();
    1.0 + tail.len() as f64 / logs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_is_that_of_the_law_that_the_gaps_follow() {
        for law in [2.0, 3.27, 4.0] {
            // The quantiles of the power law are the tail. As many short gaps are added.
            let gap = |rank: u32| {
                let share = (f64::from(rank) + 0.5) / 20_000.0;
                let millis = (19.5 * share.powf(-1.0 / (law - 1.0))).round();
                Duration::from_secs_f64(millis / 1e3)
            };
            let short = std::iter::repeat_n(Duration::from_millis(1), 20_000);
            let gaps: Vec<Duration> = (0..20_000).map(gap).chain(short).collect();
            let samples = of_gaps(&gaps);
            let found = samples.figures[1] as f64 / 1e3;
            assert!((found - law).abs() < 0.05, "{law}: {found}");
            assert_eq!((samples.figures[0], samples.times.len()), (500_000, 20_000));
        }
        assert_eq!(of_gaps(&[Duration::from_millis(1)]), Samples::empty());
    }
}
