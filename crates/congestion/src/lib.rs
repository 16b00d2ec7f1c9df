//! Congestion control: how much of a flow may be on its way, and how fast it is sent.
//!
//! [`Controller`] is the one interface; time is handed in, and nothing here does I/O or draws randomness. The same controllers
//! drive the laboratory's flows in virtual time and can drive a QUIC connection. Parts that several of them have: `rtt`, `rounds`,
//! `recovery`, `slow_start`, `base_rtt`. A file for each controller:
//!
//! - [`fixed_window`]: never changes; the frontier that others are compared with.
//! - [`aimd`], [`new_reno`], [`cubic`]: by losses. [`vegas`], [`ledbat`]: by delays.
//! - [`remy`]: by a table of rules that a search has found.
//! - [`sprout_ack`]: by a forecast of acknowledgments.
//! - [`sprout`]: forecasts from arrivals, with a receiver that takes part; no controller of this interface, but two ends.

#![forbid(unsafe_code)]

pub mod aimd;
mod base_rtt;
pub mod controller;
pub mod cubic;
pub mod fixed_window;
pub mod ledbat;
pub mod new_reno;
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

use rove_units::Bytes;

pub use controller::{Ack, Controller, Loss};

/// The first window, in packets. Source: RFC 9002, section 7.2; RFC 6928.
const INITIAL_PACKETS: u64 = 10;

/// The least window, in packets. Source: RFC 9002, section 7.2.
const LEAST_PACKETS: u64 = 2;

/// Returns the bytes of so many packets.
fn packets(count: u64, packet: Bytes) -> Bytes {
    Bytes::new(count.saturating_mul(packet.get()))
}

/// Returns a size as a multiple of a packet.
fn in_packets(size: Bytes, packet: Bytes) -> f64 {
    let [size, packet] = [size, packet].map(|it| u32::try_from(it.get()).unwrap_or(u32::MAX));
    f64::from(size) / f64::from(packet.max(1))
}

/// Returns the bytes of a window in packets.
fn of_packets(window: f64, packet: Bytes) -> Bytes {
    let packet = f64::from(u32::try_from(packet.get()).unwrap_or(u32::MAX));
    Bytes::from(sprout::whole(window * packet))
}
