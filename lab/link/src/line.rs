//! The delay line: packets in flight, ordered by release time.

use std::collections::{BTreeMap, VecDeque};

use rove_units::{Duration, Instant, Stream};

use crate::chance::normal;
use crate::config::{Distribution, LinkConfig};

/// Items ordered by release time. Items with equal times keep the order in which they entered.
#[derive(Clone, Debug)]
pub(crate) struct DelayLine<T> {
    /// Items that are released in the order in which they entered: nearly all items.
    ordered: VecDeque<(Instant, T)>,
    /// Items that are released before an item that entered earlier.
    overtaking: BTreeMap<(Instant, u64), T>,
    overtakers: u64,
}

impl<T> Default for DelayLine<T> {
    fn default() -> Self {
        Self { ordered: VecDeque::new(), overtaking: BTreeMap::new(), overtakers: 0 }
    }
}

impl<T> DelayLine<T> {
    pub(crate) fn push(&mut self, release: Instant, item: T) {
        if self.ordered.back().is_none_or(|(last, _)| *last <= release) {
            self.ordered.push_back((release, item));
        } else {
            self.overtaking.insert((release, self.overtakers), item);
            self.overtakers += 1;
        }
    }

    /// Removes and returns the next item that is released by `now`, with the time of its release.
    pub(crate) fn pop(&mut self, now: Instant) -> Option<(Instant, T)> {
        if !self.overtaking.is_empty() {
            return self.pop_first(now);
        }
        if self.ordered.front()?.0 > now {
            return None;
        }
        self.ordered.pop_front()
    }

    /// Returns when the next item is released. `None` if the line is empty.
    pub(crate) fn next_release(&self) -> Option<Instant> {
        let ordered = self.ordered.front().map(|(release, _)| *release);
        if self.overtaking.is_empty() {
            return ordered;
        }
        let overtaking = self.overtaking.keys().next().map(|(release, _)| *release);
        ordered.into_iter().chain(overtaking).min()
    }

    /// Returns the number of items that are released after `at`.
    pub(crate) fn held_after(&self, at: Instant) -> usize {
        let released = self.ordered.partition_point(|(release, _)| *release <= at);
        let overtaking = self.overtaking.range((at, u64::MAX)..).count();
        self.ordered.len() - released + overtaking
    }

    pub(crate) fn len(&self) -> usize {
        self.ordered.len() + self.overtaking.len()
    }

    fn pop_first(&mut self, now: Instant) -> Option<(Instant, T)> {
        let overtaking = self.overtaking.first_entry()?;
        let release = overtaking.key().0;
        // At equal times, the ordered item entered first, because later ordered items have later times.
        if self.ordered.front().is_some_and(|(ordered, _)| *ordered <= release) {
            return self.ordered.pop_front_if(|(ordered, _)| *ordered <= now);
        }
        (release <= now).then(|| (release, overtaking.remove()))
    }
}

/// Draws the delay of each packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Propagation {
    jitter: Stream,
    copy_jitter: Stream,
}

impl Propagation {
    pub(crate) const fn new(jitter: Stream, copy_jitter: Stream) -> Self {
        Self { jitter, copy_jitter }
    }

    /// Returns the delay of packet `number` or of its copy, with jitter.
    pub(crate) fn of(&self, config: &LinkConfig, number: u64, is_copy: bool) -> Duration {
        if config.jitter.is_zero() {
            return config.delay;
        }
        let draw = if is_copy { self.copy_jitter } else { self.jitter }.at(number);
        match config.jitter_distribution {
            Distribution::Uniform => {
                config.delay.saturating_add(config.jitter.mul_f64(draw.unit()))
            }
            Distribution::Normal => {
                let z = normal(draw);
                let offset = Duration::try_from_secs_f64(config.jitter.as_secs_f64() * z.abs());
                let offset = offset.unwrap_or(Duration::MAX);
                if z < 0.0 {
                    config.delay.saturating_sub(offset)
                } else {
                    config.delay.saturating_add(offset)
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rove_units::Seed;

    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    proptest! {
        #[test]
        fn items_come_out_by_release_and_then_by_entry(releases in prop::collection::vec(0..50_u64, 0..60)) {
            let mut line = DelayLine::default();
            let mut expected: Vec<_> = (0..).zip(&releases).map(|(n, release)| (at(*release), n)).collect();
            for (release, number) in &expected {
                line.push(*release, *number);
            }
            expected.sort();
            for now in 0..50 {
                let held = expected.iter().filter(|(release, _)| *release > at(now)).count();
                prop_assert_eq!(line.held_after(at(now)), held);
            }
            let mut popped: Vec<(Instant, i32)> = Vec::new();
            for now in 0..50 {
                prop_assert_eq!(line.next_release(), expected.get(popped.len()).map(|first| first.0));
                popped.extend(core::iter::from_fn(|| line.pop(at(now))));
                prop_assert_eq!(line.len(), expected.len() - popped.len());
            }
            prop_assert_eq!(popped, expected);
        }
    }

    fn delays(config: &LinkConfig) -> Vec<f64> {
        let chance = Seed::new(8).stream("delay");
        let propagation = Propagation::new(chance.fork(0), chance.fork(1));
        (0..100_000).map(|n| propagation.of(config, n, false).as_secs_f64() * 1e3).collect()
    }

    fn moments(sample: &[f64]) -> (f64, f64) {
        let mean = sample.iter().sum::<f64>() / 1e5;
        let variance = sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e5;
        (mean, variance.sqrt())
    }

    #[test]
    fn normal_jitter_has_its_mean_deviation_and_shape() {
        let config = LinkConfig {
            jitter: Duration::from_millis(10),
            jitter_distribution: Distribution::Normal,
            ..LinkConfig::lossless(Duration::from_millis(100))
        };
        let mut sample = delays(&config);
        let (mean, deviation) = moments(&sample);
        assert!((mean - 100.0).abs() < 0.1, "mean {mean} ms");
        assert!((deviation - 10.0).abs() < 0.2, "standard deviation {deviation} ms");
        // The critical Kolmogorov-Smirnov distance at the 1 % level is 1.63 / sqrt(n).
        sample.sort_by(f64::total_cmp);
        let distance = (0_u32..)
            .zip(&sample)
            .map(|(n, delay)| (f64::from(n) / 1e5 - normal_cdf((delay - 100.0) / 10.0)).abs())
            .fold(0.0, f64::max);
        assert!(distance < 1.63 / 1e5_f64.sqrt(), "{distance}");
    }

    #[test]
    fn normal_jitter_is_cut_at_zero_and_uniform_jitter_only_adds() {
        let (delay, jitter) = (Duration::from_millis(5), Duration::from_millis(10));
        let config = |jitter_distribution| LinkConfig {
            jitter,
            jitter_distribution,
            ..LinkConfig::lossless(delay)
        };
        let normal = delays(&config(Distribution::Normal));
        let at_zero = normal.iter().map(|delay| u32::from(*delay <= 0.0)).sum::<u32>();
        let share = f64::from(at_zero) / 1e5;
        assert!((share - normal_cdf(-0.5)).abs() < 0.005, "{share} at zero");
        let uniform = delays(&config(Distribution::Uniform));
        assert!(uniform.iter().all(|delay| (5.0..=15.0).contains(delay)));
        let (mean, deviation) = moments(&uniform);
        assert!((mean - 10.0).abs() < 0.1 && (deviation - 10.0 / 12_f64.sqrt()).abs() < 0.06);
    }

    /// Returns the standard normal distribution function at `z`, by its series around zero.
    fn normal_cdf(z: f64) -> f64 {
        let (mut term, mut sum) = (z, z);
        for n in 1..100 {
            term *= z * z / f64::from(2 * n + 1);
            sum += term;
        }
        0.5 + sum * (-z * z / 2.0).exp() / core::f64::consts::TAU.sqrt()
    }
}
