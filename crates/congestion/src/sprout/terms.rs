//! Ticks, counts and forecasts: the values that all parts of Sprout share.

use rove_units::{Bytes, Duration};

use crate::numbers::{float, whole};

/// The time that arrivals are counted in. Source: Sprout paper, section 3.2.
pub const TICK: Duration = Duration::from_millis(20);

/// [`TICK`] in seconds.
pub(crate) const TICK_SECONDS: f64 = 0.02;

/// Ticks that a forecast reaches. Source: Sprout paper, section 3.3.
pub const FORECAST_TICKS: usize = 8;

/// The time after which a packet shall be through. Source: Sprout paper, section 3.4: 100 ms.
pub(crate) const LOOK_AHEAD_TICKS: usize = 5;

/// Most packets of a tick that a forecast counts with. Source: the published program.
pub(crate) const COUNT_MAX: u32 = 29;

/// The probability that a forecast is too high. Source: Sprout paper, section 3.3: 95 % confidence.
pub const QUANTILE: f64 = 0.05;

/// How a Sprout endpoint counts and drains.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The size that counts as a packet: that of a full datagram, so that a packet is a delivery opportunity.
    pub packet: Bytes,
    /// How a sender takes a forecast that has grown old.
    pub drain: Drain,
}

impl Config {
    /// Returns the configuration of the paper, for datagrams of this size.
    pub const fn new(packet: Bytes) -> Self {
        Self { packet, drain: Drain::ByTick }
    }
}

/// How much arrives within the next 1, 2, ... ticks, as a receiver tells its peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forecast {
    /// Bytes, each tick's with those before.
    pub bytes: [u64; FORECAST_TICKS],
}

impl Forecast {
    /// Returns what arrives within a number of packets' sizes.
    pub(super) fn of(packets: [f64; FORECAST_TICKS], packet: Bytes) -> Self {
        let size = float(usize::try_from(packet.get()).unwrap_or_default());
        let bytes = |count: f64| u64::try_from(whole(count * size)).unwrap_or(u64::MAX);
        Self { bytes: packets.map(bytes) }
    }
}

/// How a forecast that has grown old empties the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drain {
    /// By what was expected in each tick, as the paper says.
    #[default]
    ByTick,
    /// By what was expected from the forecast's beginning to the end of each tick, as the published program has it: it sends too
    /// much when forecasts stay out.
    Cumulative,
}

/// The packets of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// So many came, as many as the link could carry.
    Exactly(u32),
    /// So many came, and the link could have carried more.
    AtLeast(u32),
}
