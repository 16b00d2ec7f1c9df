//! Sprout: forecasts instead of congestion signals (Winstein, Sivaraman, Balakrishnan: NSDI 2013).
//!
//! The receiver infers the link's rate from when packets arrive, forecasts how much the link will at least carry, and the sender has
//! no more on its way than will be through within 100 ms with a probability of 95 %. From the bottom up:
//!
//! - `terms`: ticks, counts and forecasts, which all of it shares.
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
mod terms;
#[cfg(test)]
mod tests;
pub mod tunnel;

pub use self::endpoint::Endpoint;
pub use self::estimator::{Bayesian, Estimator, MovingAverage, Start};
pub use self::grid::{OutageRow, Scale};
pub(crate) use self::terms::Count;
pub use self::terms::{Config, Drain, FORECAST_TICKS, Forecast, QUANTILE, TICK};
