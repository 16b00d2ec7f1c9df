//! Sprout: forecasts instead of congestion signals (Winstein, Sivaraman, Balakrishnan: NSDI 2013).
//!
//! The receiver infers the link's rate from when packets arrive, forecasts how much the link will at least carry, and the sender has
//! no more on its way than will be through within 100 ms with a probability of 95 %. From the bottom up:
//!
//! - `normal` → `grid` → `kernel`, `columns` (a tick of the random walk); `horizon`, `spread` over `quantile` (what arrives) → `model`:
//!   all that is known before a link is seen. `belief`: its rate. `lanes`: sums.
//! - [`estimator`]: the inference, or the moving average of Sprout-EWMA in its place.
//! - [`receiver`]: arrivals, counted by ticks. [`sender`]: the window. [`packet`]: their messages. [`endpoint`]: one end, both ways.
//! - [`tunnel`]: a queue for each flow that shares the window.

pub(crate) mod belief;
mod columns;
pub mod endpoint;
pub mod estimator;
pub(crate) mod grid;
mod horizon;
mod kernel;
mod lanes;
pub(crate) mod model;
pub(crate) mod normal;
pub mod packet;
mod quantile;
pub mod receiver;
pub mod sender;
mod spread;
#[cfg(test)]
mod tests;
pub mod tunnel;

use rove_units::{Bytes, Duration};

pub use self::endpoint::Endpoint;
pub use self::estimator::{Bayesian, Estimator, MovingAverage, Start};
pub use self::grid::{OutageRow, Scale};
pub use self::sender::Drain;

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
    fn of(packets: [f64; FORECAST_TICKS], packet: Bytes) -> Self {
        let size = float(usize::try_from(packet.get()).unwrap_or_default());
        let bytes = |count: f64| u64::try_from(whole(count * size)).unwrap_or(u64::MAX);
        Self { bytes: packets.map(bytes) }
    }
}

/// Returns a count as a number to calculate with.
#[expect(clippy::cast_precision_loss, reason = "counts here are far below 2^52")]
pub(crate) fn float(count: usize) -> f64 {
    count as f64
}

/// Returns a number with seven digits.
#[expect(clippy::cast_possible_truncation, reason = "seven digits are enough where it is called")]
pub(crate) fn single(number: f64) -> f32 {
    number as f32
}

/// Returns the whole part of a number, 0 of one below and of none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast holds every number within the type"
)]
pub(crate) fn whole(number: f64) -> usize {
    number as usize
}
