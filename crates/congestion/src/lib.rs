//! Congestion control: how many bytes of a flow may be in flight, and how fast packets are sent.
//!
//! [`Controller`] is the interface. The caller hands in the time, and nothing here does I/O or draws randomness. The
//! same controllers drive the laboratory's flows in virtual time and can drive a QUIC connection.
//!
//! # Modules, from the bottom up
//!
//! - `numbers` converts counts. `rtt`, `base_rtt`, `delays`, `rounds`, `recovery`, `packet_window` and `slow_start` are
//!   parts that several controllers share.
//! - `controller` is the interface.
//! - [`aimd`], [`new_reno`] and [`cubic`] follow losses, [`vegas`], [`ledbat`] and [`low_delay`] follow delays, and
//!   [`compound`] follows both.
//! - [`remy`] follows a `table` of rules that a search has found. A rule maps a `memory` of signals in a `domain` to an
//!   `action`.
//! - [`sprout_ack`] follows a forecast of acknowledgments. Its `backlog` is the bytes in flight.
//! - [`sprout`] does not implement this interface. Each of its two ends has a receiver, which forecasts arrivals, and a
//!   sender. A `model` has the `grid` of rates, and a `belief` is a probability for each rate. An `estimator` makes the
//!   forecasts. `endpoint` is an end, and `tunnel` has a queue for each flow.
//!
//! `tests` has a simulated path for this crate's own tests.

#![forbid(unsafe_code)]

pub mod aimd;
mod base_rtt;
pub mod compound;
pub mod controller;
pub mod cubic;
mod delays;
pub mod ledbat;
pub mod low_delay;
pub mod new_reno;
mod numbers;
mod packet_window;
mod recovery;
pub mod remy;
mod rounds;
mod rtt;
mod slow_start;
pub mod sprout;
pub mod sprout_ack;
#[cfg(test)]
mod tests;
pub mod vegas;

pub use controller::{Ack, Controller, Loss};
pub use slow_start::Begin;
