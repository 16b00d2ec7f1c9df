//! Whole sessions without a machine: the client and the server that ship, over a virtual network.
//!
//! [`ClientEnd`] is a client with a terminal in memory and a [`User`]. [`ServerEnd`] is a server with a [`Program`] on
//! its pty. Joined by a [`Net`] they run in virtual time. Tests, the swarm simulation, the fuzzers and the laboratory
//! each bring a user and a program of their own, which act and record the measurements.
//!
//! # Modules
//!
//! - `client_end` and `server_end` are the two ends.
//! - `beside` puts streams beside either end. `copying` is a session beside which a stream copies.
//! - `traffic` counts the datagrams that they send.
//! - `config` switches off all that only a person needs.
//!
//! [`Net`]: rove_link::net::Net

#![forbid(unsafe_code)]

mod beside;
mod client_end;
mod config;
pub mod copying;
mod server_end;
mod traffic;

pub use beside::{Beside, Carries, Owner};
pub use client_end::{Act, ClientEnd, User};
pub use config::{client_config, ends, key, rove, server_config};
pub use server_end::{Echo, Program, ServerEnd};
pub use traffic::{HEADERS, Traffic};
