//! Statistics of times in milliseconds, with what was never answered as the slowest of all.

use rove_units::{Seed, Stream};

/// An answer that comes sooner is instant, in ms.
pub const INSTANT: f64 = 5.0;

/// Resamplings of a confidence interval. Chosen: the interval's ends move by less than a hundredth of its width.
const RESAMPLINGS: u64 = 1_000;

/// Times in ascending order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    sorted: Vec<f64>,
    missing: u64,
}

impl Times {
    /// Sorts known times, given in any order in ms. `missing` counts the samples without a known time.
    pub fn new(mut times: Vec<f64>, missing: u64) -> Self {
        times.sort_by(f64::total_cmp);
        Self { sorted: times, missing }
    }

    /// Returns those that are known, the smallest first.
    pub fn known(&self) -> &[f64] {
        &self.sorted
    }

    /// Returns how many there are of which none is known.
    pub const fn missing(&self) -> u64 {
        self.missing
    }

    /// Returns how many there are in all.
    pub fn count(&self) -> u64 {
        u64::try_from(self.sorted.len()).unwrap_or(u64::MAX) + self.missing
    }

    /// Returns the mean of those that are known; `None` of none.
    pub fn mean(&self) -> Option<f64> {
        mean(&self.sorted)
    }

    /// Returns the standard deviation of those that are known (the population's); `None` of none.
    pub fn deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let squares: Vec<f64> = self.sorted.iter().map(|time| (time - mean).powi(2)).collect();
        Some(self::mean(&squares)?.sqrt())
    }

    /// Returns the time that `percent` of all do not exceed; `None` if such a one was never known, or there is none.
    pub fn quantile(&self, percent: u64) -> Option<f64> {
        let rank = (self.count() * percent).div_ceil(100).max(1);
        self.sorted.get(usize::try_from(rank - 1).ok()?).copied()
    }

    /// Returns the share of all that are below a time, in percent; 0 of none.
    pub fn share_below(&self, limit: f64) -> f64 {
        let below = self.sorted.partition_point(|time| *time < limit);
        percent(below, self.count())
    }
}

/// Returns the 95 % interval of the mean of seeds' means, by resampling the seeds and never the samples within them;
/// `None` of fewer than two seeds. The same means have the same interval. Source: Efron, *Bootstrap methods* (1979), the
/// percentile interval.
pub fn interval(means: &[f64]) -> Option<[f64; 2]> {
    let of = |drawn: &[usize]| mean(&drawn.iter().map(|run| means[*run]).collect::<Vec<_>>());
    resampled(means.len(), |drawn| of(drawn).expect("there are runs"))
}

/// Returns the ratio of two means, and its 95 % interval as of [`interval`]: runs with the same seed stand at the same place of
/// both, and are drawn together. `None` of no runs; no interval of one.
pub fn paired_ratio(of: &[f64], to: &[f64]) -> Option<(f64, Option<[f64; 2]>)> {
    assert_eq!(of.len(), to.len(), "runs come in pairs");
    let ratio = mean(of)? / mean(to)?;
    let sum = |from: &[f64], drawn: &[usize]| drawn.iter().map(|run| from[*run]).sum::<f64>();
    Some((ratio, resampled(of.len(), |drawn| sum(of, drawn) / sum(to, drawn))))
}

/// Returns the interval in which 95 % of a figure lie that is computed from as many runs, drawn by their numbers from all;
/// `None` of fewer than two.
fn resampled(runs: usize, figure: impl Fn(&[usize]) -> f64) -> Option<[f64; 2]> {
    if runs < 2 {
        return None;
    }
    let chance: Stream = Seed::new(1).stream("bootstrap");
    let runs = u64::try_from(runs).ok()?;
    let mut figures: Vec<f64> = (0..RESAMPLINGS)
        .map(|resampling| {
            let draws = chance.fork(resampling);
            let draw = |run| usize::try_from(draws.at(run).below(runs)).expect("a run");
            figure(&(0..runs).map(draw).collect::<Vec<_>>())
        })
        .collect();
    figures.sort_by(f64::total_cmp);
    let at = |thousandths: usize| figures[figures.len() * thousandths / 1000];
    Some([at(25), at(974)])
}

#[expect(clippy::cast_precision_loss, reason = "fewer samples than 2^52")]
fn mean(of: &[f64]) -> Option<f64> {
    (!of.is_empty()).then(|| of.iter().sum::<f64>() / of.len() as f64)
}

#[expect(clippy::cast_precision_loss, reason = "fewer samples than 2^52")]
fn percent(part: usize, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() < 1e-9)
    }

    #[test]
    fn statistics_of_known_and_missing_times() {
        let times = Times::new(vec![4.0, 2.0, 6.0], 1);
        assert_eq!(times.count(), 4);
        assert!(close(times.mean(), 4.0));
        assert!(close(times.deviation(), (8.0_f64 / 3.0).sqrt()));
        assert!(close(times.quantile(50), 4.0) && close(times.quantile(75), 6.0));
        assert_eq!(times.quantile(76), None, "the slowest was never seen");
        assert!((times.share_below(4.0) - 25.0).abs() < 1e-9);
        assert_eq!(Times::default().mean(), None);
        assert_eq!(Times::default().quantile(50), None);
    }

    #[test]
    fn an_interval_holds_the_mean_and_is_the_same_again() {
        let means: Vec<f64> = (0..20).map(f64::from).collect();
        let [low, high] = interval(&means).expect("twenty runs");
        assert!(low < 9.5 && 9.5 < high && low > 5.0 && high < 14.0, "{low} {high}");
        assert_eq!(interval(&means), Some([low, high]));
        assert_eq!(interval(&[1.0]), None);
        assert_eq!(interval(&[3.0, 3.0]), Some([3.0, 3.0]));
    }

    #[test]
    fn a_ratio_of_pairs_is_narrow_where_the_runs_differ_but_their_ratio_does_not() {
        let means: Vec<f64> = (1..=20).map(f64::from).collect();
        let nine_tenths: Vec<f64> = means.iter().map(|mean| mean * 0.9).collect();
        let (ratio, range) = paired_ratio(&nine_tenths, &means).expect("twenty runs");
        let [low, high] = range.expect("twenty runs");
        assert!([ratio, low, high].iter().all(|it| (it - 0.9).abs() < 1e-9), "{low} {high}");
        assert_eq!(paired_ratio(&[2.0], &[4.0]), Some((0.5, None)));
        assert_eq!(paired_ratio(&[], &[]), None);
    }
}
