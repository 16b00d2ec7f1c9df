//! A bad network on this computer: two emulated links between a client and a server, in real time.
//!
//! A [`Relay`] listens on a loopback port, passes what the client sends through one [`rove_link::Link`] to the server
//! and what the server sends through another back to the client. `rove demo` puts it between its two ends and the
//! end-to-end tests between any two programs. It does not read what it carries.
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
