//! Whole sessions without a computer: the released client and server, over a virtual network.
//!
//! [`ClientEnd`] is a client with a terminal in memory and a [`User`]. [`ServerEnd`] is a server with a [`Program`] on
//! its pty. A [`Net`] connects both in virtual time. Tests, the swarm simulation, the fuzzers and the laboratory have
//! their own users and programs, which act and record measurements.
//!
//! # Modules
//!
//! - `client_end` and `server_end` are the ends of a session.
//! - `beside` adds streams to an end. `copying` is a session with a copy in a stream.
//! - `traffic` counts datagrams that an end sends or receives.
//! - `config` configures both ends without anything that needs a person.
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
