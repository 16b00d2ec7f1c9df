//! The round-trip time, estimated from echoed timestamps.

use rove_units::Duration;

use crate::config::Config;

/// SRTT before the first sample. Source: Mosh 1.4.0 as observed, docs/wire.md.
const SRTT_INITIAL: Duration = Duration::from_secs(1);

/// RTTVAR before the first sample. Source: Mosh 1.4.0 as observed, docs/wire.md.
const RTTVAR_INITIAL: Duration = Duration::from_millis(500);

/// Samples this long or longer are clock trouble or a suspended host, not a path.
/// Source: Mosh 1.4.0 as observed, docs/wire.md.
const SAMPLE_MAX: Duration = Duration::from_secs(5);

/// SRTT and RTTVAR of RFC 6298, with this protocol's bounds.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    srtt: Duration,
    rttvar: Duration,
    sampled: bool,
}

impl RttEstimator {
    pub(crate) const fn new() -> Self {
        Self { srtt: SRTT_INITIAL, rttvar: RTTVAR_INITIAL, sampled: false }
    }

    /// Takes a sample; returns false for one of [`SAMPLE_MAX`] or more, which is ignored.
    pub(crate) fn handle_sample(&mut self, sample: Duration) -> bool {
        if sample >= SAMPLE_MAX {
            return false;
        }
        if self.sampled {
            // RFC 6298, section 2: RTTVAR takes the old SRTT, so it goes first.
            self.rttvar = (3 * self.rttvar + self.srtt.abs_diff(sample)) / 4;
            self.srtt = (7 * self.srtt + sample) / 8;
        } else {
            self.srtt = sample;
            self.rttvar = sample / 2;
            self.sampled = true;
        }
        true
    }

    /// Returns SRTT, or `None` before the first sample.
    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.sampled.then_some(self.srtt)
    }

    /// Returns RTTVAR, or `None` before the first sample.
    pub(crate) fn rttvar(&self) -> Option<Duration> {
        self.sampled.then_some(self.rttvar)
    }

    /// Returns how long to wait before a sent state is presumed lost: SRTT + 4 * RTTVAR in whole
    /// milliseconds, within the configured bounds (RFC 6298, section 2, without a granularity term).
    pub(crate) fn rto(&self, config: &Config) -> Duration {
        self.unclamped_rto().clamp(config.rto_min, config.rto_max)
    }

    /// Returns RTO as it would be without bounds.
    pub(crate) fn unclamped_rto(&self) -> Duration {
        ceil_to_millis(self.srtt + 4 * self.rttvar)
    }

    /// Returns the frame interval: half of SRTT in whole milliseconds, within the configured bounds.
    pub(crate) fn frame_interval(&self, config: &Config) -> Duration {
        ceil_to_millis(self.srtt / 2).clamp(config.frame_interval_min, config.frame_interval_max)
    }
}

fn ceil_to_millis(duration: Duration) -> Duration {
    let millis = duration.as_nanos().div_ceil(1_000_000);
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn before_the_first_sample_the_bounds_decide() {
        let config = Config::client();
        let rtt = RttEstimator::new();
        assert_eq!(rtt.srtt(), None);
        assert_eq!(rtt.rto(&config), ms(1000));
        assert_eq!(rtt.frame_interval(&config), ms(250));
    }

    #[test]
    fn samples_move_the_estimate_as_rfc_6298_says() {
        let config = Config::client();
        // (samples, SRTT in microseconds, RTO in ms, frame interval in ms)
        for (samples, srtt_us, rto, frame) in [
            (&[100][..], 100_000, 300, 50),
            (&[100, 100], 100_000, 250, 50),
            (&[100, 180], 110_000, 340, 55),
            (&[1], 1_000, 50, 20),
            (&[0, 0, 0], 0, 50, 20),
            (&[101], 101_000, 303, 51),
            (&[4999], 4_999_000, 1000, 250),
        ] {
            let mut rtt = RttEstimator::new();
            for &sample in samples {
                assert!(rtt.handle_sample(ms(sample)));
            }
            assert_eq!(rtt.srtt(), Some(Duration::from_micros(srtt_us)), "{samples:?}");
            assert_eq!(rtt.rto(&config), ms(rto), "{samples:?}");
            assert_eq!(rtt.frame_interval(&config), ms(frame), "{samples:?}");
        }
    }

    #[test]
    fn a_sample_at_the_limit_is_ignored_and_one_below_is_not() {
        let mut rtt = RttEstimator::new();
        assert!(!rtt.handle_sample(SAMPLE_MAX));
        assert_eq!(rtt.srtt(), None);
        assert!(rtt.handle_sample(SAMPLE_MAX - ms(1)));
        assert_eq!(rtt.srtt(), Some(ms(4999)));
    }
}
