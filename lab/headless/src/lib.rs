//! Whole sessions without a machine: the client and the server that ship, over a virtual network.
//!
//! [`NearEnd`] is a client with a terminal in memory and a [`User`]. [`FarEnd`] is a server with a [`Program`] on its pty.
//! Joined by a [`Net`] they run in virtual time. Tests, the swarm simulation, the fuzzers and the laboratory each bring a
//! user and a program of their own, which do and record what is measured.
//!
//! # Modules
//!
//! - `near` and `far` are the two ends.
//! - `traffic` counts what they send.
//! - `config` switches everything off that nobody looks at.
//!
//! [`Net`]: rove_link::net::Net

#![forbid(unsafe_code)]

mod config;
mod far;
mod near;
mod traffic;

pub use config::{client_config, key, rove, server_config};
pub use far::{FarEnd, Program};
pub use near::{Act, NearEnd, User};
pub use traffic::{HEADERS, Traffic};
