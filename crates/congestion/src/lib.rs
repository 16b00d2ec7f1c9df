//! Congestion control: how much of a flow may be on its way, and how fast it is sent.
//!
//! [`Controller`] is the one interface; time is handed in, and nothing here does I/O or draws randomness. The same controllers
//! drive the laboratory's flows in virtual time and can drive a QUIC connection. Parts that several of them have: `rtt`, `rounds`,
//! `recovery` → `packet_window`, `slow_start`, `base_rtt`. A file for each controller:
//!
//! - [`fixed_window`]: never changes; the frontier that others are compared with.
//! - [`aimd`], [`new_reno`], [`cubic`]: by losses. [`vegas`], [`ledbat`]: by delays. [`compound`]: by both.
//! - [`remy`]: by a table of rules that a search has found.
//! - [`sprout_ack`]: by a forecast of acknowledgments.
//! - [`sprout`]: forecasts from arrivals, with a receiver that takes part; no controller of this interface, but two ends.

#![forbid(unsafe_code)]

pub mod aimd;
mod base_rtt;
pub mod compound;
pub mod controller;
pub mod cubic;
pub mod fixed_window;
pub mod ledbat;
pub mod new_reno;
mod packet_window;
mod recovery;
pub mod remy;
mod rounds;
mod rtt;
mod slow_start;
pub mod sprout;
pub mod sprout_ack;
#[cfg(test)]
mod testing;
pub mod vegas;

pub use controller::{Ack, Controller, Loss};
pub use slow_start::Begin;
