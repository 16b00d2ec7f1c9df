//! Sprout: forecasts instead of congestion signals (Winstein, Sivaraman, Balakrishnan: NSDI 2013).
//!
//! The receiver infers the link's rate from the arrival times of packets, and forecasts how much the link will carry at
//! least. With a probability of 95 %, all bytes that the sender has in flight arrive within 100 ms. From the bottom up:
//!
//! - `terms`: ticks, counts and forecasts, which all parts share.
//! - `normal` helps to compute `grid`, the rates. `kernel` and `columns` compute a tick of the rates' random walk.
//!   `horizon` and `spread` forecast arrivals as a `quantile`. `model` joins these. `belief` has the rates'
//!   probabilities. `lanes` adds many numbers fast.
//! - [`estimator`] infers the rate, or averages it instead (Sprout-EWMA).
//! - [`receiver`] counts arrivals by ticks, and [`sender`] has the window. [`packet`] is their message. `config`
//!   decides which bytes count. [`endpoint`] is an end, with both halves.
//! - [`tunnel`] has a queue for each flow that shares the window.

pub(crate) mod belief;
mod columns;
mod config;
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

pub use self::config::{Config, Counting, Drain};
pub use self::endpoint::Endpoint;
pub use self::estimator::{Bayesian, Estimator, MovingAverage};
pub use self::grid::Scale;
pub(crate) use self::terms::Count;
pub use self::terms::{FORECAST_TICKS, Forecast, QUANTILE, TICK};
