//! The smoothed round-trip time (RFC 6298).

use rove_units::Duration;

/// Divisor for the weight of a sample in the average, which is 1/8. Source: RFC 6298, section 2.3.
const SHARE: u32 = 8;

/// The smoothed round-trip time (SRTT) of a flow.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Smoothed {
    srtt: Option<Duration>,
}

impl Smoothed {
    pub(crate) fn update(&mut self, sample: Duration) {
        self.srtt = Some(self.srtt.map_or(sample, |srtt| srtt - srtt / SHARE + sample / SHARE));
    }

    /// Returns the smoothed round-trip time; zero before the first sample.
    pub(crate) fn value(&self) -> Duration {
        self.srtt.unwrap_or_default()
    }

    /// Returns the smoothed round-trip time in seconds; zero before the first sample.
    pub(crate) fn secs(&self) -> f64 {
        self.value().as_secs_f64()
    }
}
