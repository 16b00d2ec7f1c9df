//! The State Synchronization Protocol, sans I/O, over any [`Object`].
//!
//! Two ends keep a copy of each other's object up to date over unreliable datagrams. This crate
//! holds the protocol from the sealed datagram up to the state lists; it reads no clock, opens no
//! socket and draws no randomness. What is synchronised is the caller's: implement [`Object`].
//!
//! A driver feeds [`Transport::handle_datagram`] and [`Transport::handle_timeout`], drains
//! [`Transport::poll_transmit`] and [`Transport::poll_event`], and sleeps until
//! [`Transport::poll_timeout`].

#![forbid(unsafe_code)]

mod assembler;
#[cfg(test)]
mod blob;
mod candidates;
mod chaff;
mod closing;
mod compress;
mod config;
mod connection;
mod crypto;
mod datagram;
mod error;
mod fragment;
mod hello;
mod hop;
mod instruction;
mod key;
mod loss_estimate;
mod loss_report;
mod mechanism;
mod nonce;
mod num;
mod object;
mod ocb;
mod path;
mod path_size;
mod pieces;
mod quiet;
mod receiver;
mod revival;
mod rtt;
mod rtt_min;
mod sender;
mod transport;
mod window;
mod wiping;
pub mod wire;

pub use closing::Closed;
pub use config::{Config, ReferencePolicy};
pub use connection::{Event, Role, Transmit};
pub use datagram::Ecn;
pub use error::{ReceiveError, SendError};
pub use hello::{Capabilities, Hello, Peer};
pub use key::{Key, KeyError};
pub use mechanism::{Mechanism, UnknownMechanism};
pub use nonce::Direction;
pub use num::StateNum;
pub use object::{ApplyError, Object, Part};
pub use path::{Loss, Path, Traffic};
pub use transport::Transport;
pub use wiping::wiping;
