//! A bad network on this computer: two emulated links between a client and a server, in real time.
//!
//! A [`Relay`] listens on a loopback port. It passes the client's datagrams through one [`rove_link::Link`] to the
//! server, and the server's datagrams through another link back to the client. A relay does not read the datagrams.
//! `rove demo` and the end-to-end tests put a relay between two programs.
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
