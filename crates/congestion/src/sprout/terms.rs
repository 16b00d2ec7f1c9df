//! Ticks, counts and forecasts: the values that all parts of Sprout share.

use rove_units::{Bytes, Duration};

use crate::numbers::{float, whole};

/// Length of a tick, in which arrivals are counted. Source: Sprout paper, section 3.2.
pub const TICK: Duration = Duration::from_millis(20);

pub(crate) const TICK_SECONDS: f64 = 0.02;

/// Number of ticks in a forecast. Source: Sprout paper, section 3.3.
pub const FORECAST_TICKS: usize = 8;

/// Number of ticks within which a packet should arrive. Source: Sprout paper, section 3.4: 100 ms.
pub(crate) const LOOK_AHEAD_TICKS: usize = 5;

/// Most packets of a tick that the tables of forecasts distinguish. Source: the published program.
pub(crate) const COUNT_MAX: u32 = 29;

/// The probability that a forecast is too high. Source: Sprout paper, section 3.3: 95 % confidence.
pub const QUANTILE: f64 = 0.05;

/// How many bytes will arrive within the next 1, 2, ... ticks, as a receiver forecasts for its peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forecast {
    /// Bytes that arrive up to the end of each tick, from the first tick on.
    pub bytes: [u64; FORECAST_TICKS],
}

impl Forecast {
    /// Returns the forecast in bytes for a forecast in packets of size `packet`.
    pub(super) fn of(packets: [f64; FORECAST_TICKS], packet: Bytes) -> Self {
        let size = float(usize::try_from(packet.get()).unwrap_or_default());
        let bytes = |count: f64| u64::try_from(whole(count * size)).unwrap_or(u64::MAX);
        Self { bytes: packets.map(bytes) }
    }
}

/// The number of packets observed in a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// This many packets arrived, which is all that the link could carry.
    Exactly(u32),
    /// This many packets arrived, and the link could have carried more.
    AtLeast(u32),
}
