//! The study's retransmission timeout: TCP's (RFC 6298), but with another least value and without an upper bound.

use rove_units::Duration;

/// Divisor of a new sample's weight in the mean: the weight is 1/8. Source: the study; RFC 6298, section 2.
const MEAN_DIVISOR: u32 = 8;

/// Divisor of a new sample's weight in the deviation: the weight is 1/4. Source: as of [`MEAN_DIVISOR`].
const DEVIATION_DIVISOR: u32 = 4;

/// How many deviations the timeout adds to the mean. Source: as of [`MEAN_DIVISOR`].
const DEVIATIONS: u32 = 4;

/// Least time that the timeout adds to the mean. Source: the study (G = 0.1 s).
const GRANULARITY: Duration = Duration::from_millis(100);

/// Least timeout. Source: the study.
const TIMEOUT_MIN: Duration = Duration::from_millis(50);

/// Timeout before the first sample. Chosen: the study does not say; RFC 6298 has 1 s.
const TIMEOUT_FIRST: Duration = Duration::from_secs(1);

/// The mean and the deviation of round trips.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Estimator {
    /// Mean and deviation. `None` before the first sample.
    estimate: Option<(Duration, Duration)>,
}

impl Estimator {
    /// Adds a round trip to the estimate.
    pub(super) fn sample(&mut self, round_trip: Duration) {
        self.estimate = Some(match self.estimate {
            None => (round_trip, round_trip / 2),
            Some((mean, deviation)) => (
                weighted(mean, round_trip, MEAN_DIVISOR),
                weighted(deviation, mean.abs_diff(round_trip), DEVIATION_DIVISOR),
            ),
        });
    }

    /// Returns the time after sending within which a state is assumed to arrive.
    pub(super) fn timeout(&self) -> Duration {
        self.estimate.map_or(TIMEOUT_FIRST, |(mean, deviation)| {
            TIMEOUT_MIN.max(mean + GRANULARITY.max(deviation * DEVIATIONS))
        })
    }
}

fn weighted(old: Duration, new: Duration, divisor: u32) -> Duration {
    (old * (divisor - 1) + new) / divisor
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_timeout_begins_at_three_round_trips_and_settles_a_tenth_above_one() {
        let mut estimator = Estimator::default();
        assert_eq!(estimator.timeout(), ms(1000));
        estimator.sample(ms(2000));
        assert_eq!(estimator.timeout(), ms(6000));
        estimator.sample(ms(2000));
        assert_eq!(estimator.timeout(), ms(5000));
        (0..40).for_each(|_| estimator.sample(ms(2000)));
        assert_eq!(estimator.timeout(), ms(2100));
        estimator.sample(ms(2400));
        // The mean goes to 2050 ms, the deviation to 100 ms.
        assert!(estimator.timeout().abs_diff(ms(2450)) < ms(1), "{:?}", estimator.timeout());
    }
}
