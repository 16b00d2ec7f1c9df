//! Statistics of times, where one that never came is slower than all others, and of the figures of several rounds.

use std::collections::BTreeMap;

use rove_units::{Seed, Stream};

/// An answer is instant if it takes less than this time, in ms.
pub const INSTANT: f64 = 5.0;

/// Resamplings of a confidence interval. Chosen: the interval's ends move by less than a hundredth of its width.
const RESAMPLINGS: u64 = 1_000;

/// Times in ms, in ascending order, and the number of those that never came.
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

    /// Adds the times of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.sorted.extend(&other.sorted);
        self.sorted.sort_by(f64::total_cmp);
        self.missing += other.missing;
    }

    /// Returns the times that came, the shortest first.
    pub fn known(&self) -> &[f64] {
        &self.sorted
    }

    /// Returns how many times never came.
    pub const fn missing(&self) -> u64 {
        self.missing
    }

    /// Returns how many times there are, with those that never came.
    pub fn count(&self) -> u64 {
        u64::try_from(self.sorted.len()).unwrap_or(u64::MAX) + self.missing
    }

    /// Returns the mean of the times that came. `None` if no time came.
    pub fn mean(&self) -> Option<f64> {
        mean(&self.sorted)
    }

    /// Returns the standard deviation (of the population) of the times that came. `None` if no time came.
    pub fn deviation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let squares: Vec<f64> = self.sorted.iter().map(|time| (time - mean).powi(2)).collect();
        Some(self::mean(&squares)?.sqrt())
    }

    /// Returns the time that `percent` of all times do not exceed. `None` if that time never came, or without times.
    pub fn quantile(&self, percent: u64) -> Option<f64> {
        rank(&self.sorted, self.missing, percent)
    }

    /// Returns several quantiles by their names, such as `p50`.
    pub fn quantiles(&self, percents: &[u64]) -> BTreeMap<String, Option<f64>> {
        percents.iter().map(|it| (format!("p{it}"), self.quantile(*it))).collect()
    }

    /// Returns how many times are instant.
    pub fn instant(&self) -> usize {
        self.sorted.partition_point(|time| *time < INSTANT)
    }

    /// Returns the percentage of all times that are instant; 0 without times.
    pub fn instant_percent(&self) -> f64 {
        self.share_below(INSTANT)
    }

    /// Returns the percentage of all times that are below `limit`; 0 without times.
    pub fn share_below(&self, limit: f64) -> f64 {
        let below = self.sorted.partition_point(|time| *time < limit);
        percent(below, usize::try_from(self.count()).unwrap_or(usize::MAX))
    }
}

impl FromIterator<Option<f64>> for Times {
    /// Sorts times in ms. `None` is a time that never came.
    fn from_iter<I: IntoIterator<Item = Option<f64>>>(times: I) -> Self {
        let mut missing = 0;
        let known =
            times.into_iter().inspect(|time| missing += u64::from(time.is_none())).flatten();
        let known = known.collect();
        Self::new(known, missing)
    }
}

/// Returns the value that `percent` of all values do not exceed: the nearest rank. `sorted` has the known values in
/// ascending order. The `missing` unknown values are larger. `None` if the value is unknown, or there are no values.
pub fn rank<T: Copy>(sorted: &[T], missing: u64, percent: u64) -> Option<T> {
    debug_assert!(percent <= 100, "{percent} % are more than all");
    let count = u64::try_from(sorted.len()).ok()? + missing;
    let rank = (count * percent).div_ceil(100).max(1);
    sorted.get(usize::try_from(rank - 1).ok()?).copied()
}

/// Returns the median of figures: the mean of the middle two for an even number of figures, and NaN without figures.
pub fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        len if len.is_multiple_of(2) => f64::midpoint(sorted[half - 1], sorted[half]),
        _ => sorted[half],
    }
}

/// Returns the figure that `percent` of all do not exceed; NaN without figures.
pub fn quantile(figures: &[f64], percent: u64) -> f64 {
    Times::new(figures.to_vec(), 0).quantile(percent).unwrap_or(f64::NAN)
}

/// Returns the median over the rounds of our figure divided by theirs. An influence on a whole round cancels out.
pub fn ratio(ours: &[f64], theirs: &[f64]) -> f64 {
    paired(ours, theirs, |ours, theirs| ours / theirs)
}

/// Returns the median over the rounds of our figure less theirs.
pub fn excess(ours: &[f64], theirs: &[f64]) -> f64 {
    paired(ours, theirs, |ours, theirs| ours - theirs)
}

fn paired(ours: &[f64], theirs: &[f64], compare: fn(f64, f64) -> f64) -> f64 {
    debug_assert_eq!(ours.len(), theirs.len(), "rounds come in pairs");
    let rounds: Vec<f64> =
        ours.iter().zip(theirs).map(|(ours, theirs)| compare(*ours, *theirs)).collect();
    median(&rounds)
}

/// Returns the 95 % interval of the mean over seeds, given each seed's mean. It resamples whole seeds, not the values
/// of a seed. `None` for fewer than two seeds. The same means give the same interval. Source: Efron, *Bootstrap
/// methods* (1979), the percentile interval.
pub fn interval(means: &[f64]) -> Option<[f64; 2]> {
    let of = |drawn: &[usize]| mean(&drawn.iter().map(|run| means[*run]).collect::<Vec<_>>());
    resampled(means.len(), |drawn| of(drawn).expect("there are runs"))
}

/// Returns the 95 % interval of a statistic of the times of all runs together, by the method of [`interval`]. A run
/// that is drawn twice adds all its times twice. `None` if the upper end is a time that never came.
pub fn pooled_interval(
    runs: &[&Times],
    statistic: impl Fn(&Times) -> Option<f64>,
) -> Option<[f64; 2]> {
    // Few runs are drawn alike again and again, and their order does not matter.
    let mut known_draws: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
    let of = |drawn: &[usize]| {
        let mut drawn = drawn.to_vec();
        drawn.sort_unstable();
        *known_draws.entry(drawn).or_insert_with_key(|drawn| {
            let known = drawn.iter().flat_map(|run| runs[*run].known().iter().copied()).collect();
            let missing = drawn.iter().map(|run| runs[*run].missing()).sum();
            // A time that never came is the greatest of all.
            statistic(&Times::new(known, missing)).unwrap_or(f64::INFINITY)
        })
    };
    resampled(runs.len(), of).filter(|[_, high]| high.is_finite())
}

/// Returns the ratio of two means with its 95 % interval by the method of [`interval`]. Runs with the same index have
/// the same seed and are drawn together. `None` without runs, or if the second mean is 0. A single run has none.
pub fn paired_ratio(of: &[f64], to: &[f64]) -> Option<(f64, Option<[f64; 2]>)> {
    assert_eq!(of.len(), to.len(), "runs come in pairs");
    let ratio = Some(mean(of)? / mean(to)?).filter(|ratio| ratio.is_finite())?;
    let sum = |from: &[f64], drawn: &[usize]| drawn.iter().map(|run| from[*run]).sum::<f64>();
    let range = resampled(of.len(), |drawn| sum(of, drawn) / sum(to, drawn));
    Some((ratio, range.filter(|ends| ends.iter().all(|end| end.is_finite()))))
}

/// Returns the interval that holds 95 % of a figure's values, each computed from as many runs, drawn at random from
/// all. `None` for fewer than two runs.
pub fn resampled(runs: usize, mut figure: impl FnMut(&[usize]) -> f64) -> Option<[f64; 2]> {
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

/// Returns the mean of numbers. `None` without numbers.
#[expect(clippy::cast_precision_loss, reason = "fewer samples than 2^52")]
pub fn mean(of: &[f64]) -> Option<f64> {
    (!of.is_empty()).then(|| of.iter().sum::<f64>() / of.len() as f64)
}

/// Returns a part of a whole in percent; 0 if the whole is 0.
#[expect(clippy::cast_precision_loss, reason = "fewer samples than 2^52")]
pub fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// Returns a count, or a time in nanoseconds, as a number.
#[expect(clippy::cast_precision_loss, reason = "times below a hundred days, and counts")]
pub fn to_float(value: u64) -> f64 {
    value as f64
}

/// Returns a number rounded to the nearest whole one; 0 for a negative one and for NaN.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast holds every number within the type"
)]
pub fn whole(number: f64) -> u64 {
    number.round() as u64
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
        assert_eq!((times.instant(), Times::new(vec![5.0], 0).instant()), (2, 0));
        let mut pool: Times = [Some(5.0), None].into_iter().collect();
        pool.merge(&times);
        assert_eq!(pool, Times::new(vec![2.0, 4.0, 5.0, 6.0], 2));
        assert!(close(pool.quantiles(&[50])["p50"], 5.0));
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
    fn an_interval_of_a_median_is_of_the_times_of_whole_runs() {
        let run = |times: &[f64], missing| Times::new(times.to_vec(), missing);
        let median = |times: &Times| times.quantile(50);
        let runs: Vec<Times> = (0..20).map(|it| run(&[0.0, f64::from(it), 99.0], 0)).collect();
        let runs: Vec<&Times> = runs.iter().collect();
        let [low, high] = pooled_interval(&runs, median).expect("twenty runs");
        assert!(3.0 < low && low < 9.0 && 9.0 < high && high < 16.0, "{low} {high}");
        let same = run(&[1.0, 7.0, 9.0], 0);
        assert_eq!(pooled_interval(&[&same, &same], median), Some([7.0, 7.0]));
        assert_eq!(pooled_interval(&[&same], median), None);
        let never = run(&[1.0], 9);
        assert_eq!(pooled_interval(&[&same, &never], median), None, "its upper end never came");
        let instant = |times: &Times| Some(times.share_below(INSTANT));
        let range = pooled_interval(&[&run(&[1.0], 0), &run(&[9.0], 0)], instant);
        assert_eq!(range, Some([0.0, 100.0]));
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
        assert_eq!(paired_ratio(&[0.0], &[0.0]), None);
        assert_eq!(
            paired_ratio(&[1.0, 1.0], &[0.0, 4.0]),
            Some((0.5, None)),
            "some draws have no mean"
        );
    }
    #[test]
    fn the_median_is_the_middle_whatever_the_order() {
        for (figures, middle) in [
            (&[7.0][..], 7.0),
            (&[3.0, 1.0, 2.0], 2.0),
            (&[4.0, 1.0, 100.0, 2.0], 3.0),
            (&[5.0, 5.0, 1.0, 9.0, 0.5], 5.0),
        ] {
            assert_eq!(median(figures).to_bits(), f64::to_bits(middle), "{figures:?}");
        }
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn a_quantile_is_a_figure_that_was_found() {
        let figures: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        for (percent, figure) in
            [(0, 1.0), (10, 1.0), (50, 5.0), (90, 9.0), (91, 10.0), (100, 10.0)]
        {
            assert_eq!(quantile(&figures, percent).to_bits(), f64::to_bits(figure), "{percent}");
        }
        assert!(quantile(&[], 50).is_nan());
    }

    #[test]
    fn a_slow_round_changes_no_ratio() {
        let (ours, theirs) = ([1.0, 10.0, 1.0], [4.0, 40.0, 4.0]);
        assert_eq!(ratio(&ours, &theirs).to_bits(), f64::to_bits(0.25));
        assert_eq!(excess(&theirs, &ours).to_bits(), f64::to_bits(3.0));
    }
}
