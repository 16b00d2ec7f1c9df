//! A bad network on this computer: two emulated links between a client and a server, in real time.
//!
//! A [`Relay`] listens on a loopback port. It passes what the client sends through one [`rove_link::Link`] to the
//! server, and what the server sends through another link back to the client. `rove demo` puts a relay between its
//! client and its server, and the end-to-end tests put one between any two programs. A relay does not read the
//! datagrams.
//!
//! # Modules
//!
//! - `path` is the path that a user describes with options.
//! - `relay` moves the datagrams in a thread, which `bell` wakes.

#![forbid(unsafe_code)]

mod bell;
mod path;
mod relay;

pub use path::PathArgs;
pub use relay::{Relay, RelayConfig, Traffic};
