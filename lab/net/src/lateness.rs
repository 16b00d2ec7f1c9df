//! How late packets left: a histogram of bounded size, and the limits beyond which a run is invalid.

use rove_units::Duration;
use serde::Serialize;

/// Buckets for each doubling. Chosen: a quantile is then exact to 3 %.
const SUB_BUCKETS: u64 = 32;
const SUB_BITS: u32 = SUB_BUCKETS.trailing_zeros();
/// Buckets for all 64 bits of nanoseconds.
const BUCKETS: usize = 64 * 32;

/// Largest lateness that 99 % of the packets of a valid run do not exceed. Chosen: twice what a computer with two busy
/// cores had (1.2 ms).
pub(super) const P99_MAX: Duration = Duration::from_millis(2);
/// Largest lateness of any packet of a valid run. Chosen: six times what a computer with two busy cores had (3.6 ms).
pub(super) const LATEST_MAX: Duration = Duration::from_millis(20);

/// Counts of durations by their size.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Box<[u64]>,
    total: u64,
    max: Duration,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS].into(), total: 0, max: Duration::ZERO }
    }
}

impl Histogram {
    /// Counts a duration.
    pub fn add(&mut self, duration: Duration) {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        if let Some(count) = self.counts.get_mut(bucket(nanos)) {
            *count += 1;
        }
        self.total += 1;
        self.max = self.max.max(duration);
    }

    /// Returns how many durations were counted.
    pub const fn count(&self) -> u64 {
        self.total
    }

    /// Returns the longest duration.
    pub const fn max(&self) -> Duration {
        self.max
    }

    /// Returns the duration that `percent` % of all do not exceed, rounded up by at most 3 %; zero if there are none.
    pub fn percentile(&self, percent: u64) -> Duration {
        let wanted = (self.total * percent).div_ceil(100);
        let mut seen = 0;
        for (index, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted.max(1) {
                return Duration::from_nanos(upper_bound(index)).min(self.max);
            }
        }
        self.max
    }

    /// Returns the main figures of the lateness.
    pub fn summary(&self) -> Summary {
        let micros = |duration: Duration| duration.as_secs_f64() * 1e6;
        Summary {
            packets: self.total,
            p50_us: micros(self.percentile(50)),
            p99_us: micros(self.percentile(99)),
            max_us: micros(self.max),
        }
    }

    /// Returns whether packets left so late that the run is invalid.
    pub(super) fn is_too_late(&self) -> bool {
        self.percentile(99) > P99_MAX || self.max > LATEST_MAX
    }
}

/// How late packets left, in microseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Summary {
    /// How many packets left.
    pub packets: u64,
    /// The median of the lateness.
    pub p50_us: f64,
    /// Lateness that 99 % do not exceed.
    pub p99_us: f64,
    /// The lateness of the latest packet.
    pub max_us: f64,
}

/// Returns the bucket of a number. Each number below 32 has a bucket, and each doubling from 32 on has 32.
fn bucket(nanos: u64) -> usize {
    let doublings = (u64::BITS - nanos.leading_zeros()).saturating_sub(SUB_BITS + 1);
    let index = u64::from(doublings) * SUB_BUCKETS + (nanos >> doublings);
    usize::try_from(index).unwrap_or(usize::MAX)
}

/// Returns the largest number in a bucket.
fn upper_bound(index: usize) -> u64 {
    let index = u64::try_from(index).unwrap_or(u64::MAX);
    let doublings = (index / SUB_BUCKETS).saturating_sub(1);
    let base = index - doublings * SUB_BUCKETS;
    let below = |bits: u64| {
        1_u64.checked_shl(u32::try_from(bits).unwrap_or(u32::MAX)).map_or(u64::MAX, |end| end - 1)
    };
    base.saturating_mul(below(doublings).saturating_add(1)) | below(doublings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_one_another_and_are_narrow() {
        let mut last = 0;
        for nanos in (0..5_000).chain((13..64).map(|bits| (1 << bits) - 1)).chain([u64::MAX]) {
            let index = bucket(nanos);
            assert!(index >= last && index < BUCKETS, "{nanos}");
            last = index;
            let above = upper_bound(index);
            assert!(above >= nanos && above - nanos <= nanos / 32, "{nanos}: {above}");
        }
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_list() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentile(99), Duration::ZERO);
        (1..=1_000).rev().for_each(|micros| histogram.add(Duration::from_micros(micros)));
        for (percent, micros) in [(1, 10), (50, 500), (99, 990), (100, 1_000)] {
            let found = histogram.percentile(percent).as_nanos();
            let exact = u128::from(micros * 1_000_u64);
            assert!((exact..=exact * 33 / 32).contains(&found), "p{percent}: {found} ns");
        }
        assert_eq!((histogram.count(), histogram.max()), (1_000, Duration::from_millis(1)));
    }

    #[test]
    fn a_run_is_of_no_use_past_either_limit() {
        let late = |durations: &[(u32, Duration)]| {
            let mut histogram = Histogram::default();
            for (count, duration) in durations {
                (0..*count).for_each(|_| histogram.add(*duration));
            }
            histogram.is_too_late()
        };
        let nanosecond = Duration::from_nanos(1);
        let fine = (990, Duration::ZERO);
        assert!(!late(&[]));
        assert!(!late(&[fine, (10, LATEST_MAX)]));
        assert!(late(&[fine, (10, LATEST_MAX + nanosecond)]));
        assert!(!late(&[(1_000, P99_MAX)]));
        assert!(late(&[(989, Duration::ZERO), (11, P99_MAX.mul_f64(1.1))]));
    }
}
