//! UDP sockets of both ends of a session, with the system's facts about each datagram and about the path.
//!
//! The caller does the waiting, because all sockets are non-blocking. A server binds one [`ServerSocket`]. A client has
//! [`DualStackSockets`], whose newest port sends while older ports still receive.
//!
//! # Modules, from the bottom up
//!
//! - `ancillary` reads the control messages of a datagram. `sys` is the only unsafe code.
//! - `socket` opens sockets, sends and receives. `dual_stack` holds the client's sockets of both address families.
//! - `sieve` keeps a flood of other senders' datagrams out of the server's socket.

#[doc(hidden)]
pub mod ancillary;
mod dual_stack;
mod sieve;
mod socket;
mod sys;

pub use dual_stack::DualStackSockets;
pub use sieve::Sieve;
pub use socket::{
    ClientSockets, DATAGRAMS_PER_TURN, PortRange, Refusal, SendFailure, ServerSocket,
    receive_waiting, receive_while, send,
};
pub use sys::Received;
