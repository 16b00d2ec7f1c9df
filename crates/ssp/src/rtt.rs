//! The round-trip time, estimated from echoed timestamps.

use rove_units::{Duration, Instant};

use crate::config::{FrameConfig, RttConfig, SUSPECT_MIN};

/// SRTT before the first sample. Source: Mosh 1.4.0 as observed, docs/wire.md.
const SRTT_INITIAL: Duration = Duration::from_secs(1);

/// RTTVAR before the first sample. Source: Mosh 1.4.0 as observed, docs/wire.md.
const RTTVAR_INITIAL: Duration = Duration::from_millis(500);

/// Time during which all samples must be suspect ([`SUSPECT_MIN`] or more) before suspect samples count. Chosen: all
/// datagrams that a suspended host finds when it wakes up come at once. A fresh sample follows within a round trip.
const SUSPECT_FOR: Duration = Duration::from_secs(1);

/// If SRTT is above the upper bound of RTO, RTO exceeds SRTT by at most SRTT divided by this. Chosen: a quarter. RTTVAR
/// starts at half of the first sample. Without this bound, an early lost key would be repeated after three round trips.
const RTO_BEYOND_SRTT_DIVISOR: u32 = 4;

/// SRTT and RTTVAR of RFC 6298, with this protocol's bounds.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    srtt: Duration,
    rttvar: Duration,
    sampled: bool,
    /// When the first of the present run of suspect samples came. `None` if the last sample was not suspect.
    suspect_since: Option<Instant>,
}

impl RttEstimator {
    pub(crate) const fn new() -> Self {
        Self { srtt: SRTT_INITIAL, rttvar: RTTVAR_INITIAL, sampled: false, suspect_since: None }
    }

    /// Adds a sample and returns whether it counts. A sample of [`RttConfig::rtt_max`] or more does not. Samples of
    /// [`SUSPECT_MIN`] or more count only after all samples of the last [`SUSPECT_FOR`] were as long.
    pub(crate) fn handle_sample(
        &mut self,
        now: Instant,
        sample: Duration,
        config: &RttConfig,
    ) -> bool {
        if sample >= SUSPECT_MIN {
            let since = *self.suspect_since.get_or_insert(now);
            if now < since + SUSPECT_FOR || sample >= config.rtt_max {
                return false;
            }
        } else {
            self.suspect_since = None;
        }
        if self.sampled {
            // RFC 6298, section 2: RTTVAR uses the old SRTT, so it is updated first.
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

    /// Returns the retransmission timeout (RTO): SRTT + 4 * RTTVAR in whole milliseconds, within the configured bounds
    /// (RFC 6298, section 2, without a granularity term). The upper bound may grow with SRTT.
    pub(crate) fn rto(&self, config: &RttConfig) -> Duration {
        let beyond_srtt = self.srtt().map(|srtt| srtt + srtt / RTO_BEYOND_SRTT_DIVISOR);
        let far = beyond_srtt.unwrap_or_default().min(config.rto_far_max);
        self.unclamped_rto().clamp(config.rto_min, config.rto_max.max(ceil_to_millis(far)))
    }

    /// Returns RTO without the configured bounds.
    pub(crate) fn unclamped_rto(&self) -> Duration {
        ceil_to_millis(self.srtt + 4 * self.rttvar)
    }

    /// Returns the frame interval: half of SRTT in whole milliseconds, within the configured bounds.
    pub(crate) fn frame_interval(&self, config: &FrameConfig) -> Duration {
        ceil_to_millis(self.srtt / 2).clamp(config.interval_min, config.interval_max)
    }
}

fn ceil_to_millis(duration: Duration) -> Duration {
    let millis = duration.as_nanos().div_ceil(1_000_000);
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// Returns an estimator that has had these samples in ms, a second apart.
    fn sampled(samples: &[u64], config: &Config) -> RttEstimator {
        let mut rtt = RttEstimator::new();
        for (now, sample) in (1..).zip(samples) {
            rtt.handle_sample(Instant::from_millis(1_000 * now), ms(*sample), &config.rtt);
        }
        rtt
    }

    #[test]
    fn before_the_first_sample_the_bounds_decide() {
        for config in [Config::client(), Config::client().stock()] {
            let rtt = RttEstimator::new();
            assert_eq!(rtt.srtt(), None);
            assert_eq!(rtt.rto(&config.rtt), ms(1000));
            assert_eq!(rtt.frame_interval(&config.frames), ms(250));
        }
    }

    #[test]
    fn samples_move_the_estimate_as_rfc_6298_says() {
        let config = Config::client().stock();
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
            let rtt = sampled(samples, &config);
            assert_eq!(rtt.srtt(), Some(Duration::from_micros(srtt_us)), "{samples:?}");
            assert_eq!(rtt.rto(&config.rtt), ms(rto), "{samples:?}");
            assert_eq!(rtt.frame_interval(&config.frames), ms(frame), "{samples:?}");
        }
    }

    #[test]
    fn a_timeout_is_longer_than_the_round_trip_however_far_the_peer_is() {
        let config = Config::client();
        // (samples, RTO in ms, RTO in ms by the rules of stock)
        for (samples, rto, stock) in [
            (&[100][..], 300, 300),
            (&[700], 1_000, 1_000),
            (&[1_000], 1_250, 1_000),
            (&[2_000; 20], 2_017, 1_000),
            (&[5_000; 2], 6_250, 1_000),
            (&[5_000; 20], 5_057, 1_000),
            (&[20_000; 4], 10_000, 1_000),
        ] {
            assert_eq!(sampled(samples, &config).rto(&config.rtt), ms(rto), "{samples:?}");
            let config = config.clone().stock();
            assert_eq!(sampled(samples, &config).rto(&config.rtt), ms(stock), "{samples:?}");
        }
    }

    #[test]
    fn long_samples_count_once_they_have_come_for_a_second_and_stocks_never() {
        let config = Config::client();
        // (time and sample in ms, whether it counts)
        let mut rtt = RttEstimator::new();
        for (at, sample, counts) in [
            (0, 5_000, false),
            (999, 5_000, false),
            (1_000, 4_999, true),
            (1_500, 60_000, false),
            (1_501, 9_000, false),
            (2_499, 9_000, false),
            (2_500, 9_000, true),
            (2_600, 29_999, true),
            (2_700, 30_000, false),
            (2_800, 100, true),
            (2_900, 9_000, false),
        ] {
            let now = Instant::from_millis(at);
            assert_eq!(rtt.handle_sample(now, ms(sample), &config.rtt), counts, "at {at}");
        }
        assert_eq!(sampled(&[5_000; 9], &config.stock()).srtt(), None);
    }
}
