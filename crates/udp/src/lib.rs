//! UDP sockets of both ends of a session, with the system's facts about each datagram and about the path.
//!
//! The caller does the waiting, because all sockets are non-blocking. A server binds one [`ServerSocket`]. A client has
//! [`DualStackSockets`], whose newest port sends while older ports still receive.
//!
//! # Modules, from the bottom up
//!
//! - `received` is a datagram with the system's facts about it. `datagram` receives and sends datagrams with the
//!   kernel's control messages, and on Windows without them.
//! - `socket` opens sockets, sends and receives. `dual_stack` holds the client's sockets of both address families.
//! - `inbox` keeps the datagrams that a client has read, but cannot handle in this turn of its loop.
//! - `refusal_probe` detects a closed server port, for systems that do not report it to unconnected sockets.
//! - `sieve` keeps a flood of other senders' datagrams out of the server's socket.

#![forbid(unsafe_code)]

#[cfg_attr(windows, path = "windows/datagram.rs")]
mod datagram;
mod dual_stack;
mod inbox;
mod received;
mod refusal_probe;
mod sieve;
mod socket;

pub use dual_stack::DualStackSockets;
pub use inbox::Inbox;
pub use received::{DATAGRAMS_PER_TURN, Received};
pub use refusal_probe::RefusalProbe;
pub use sieve::Sieve;
pub use socket::{
    ClientSockets, PortRange, Refusal, SendFailure, ServerSocket, receive_waiting, send,
    send_segments,
};
