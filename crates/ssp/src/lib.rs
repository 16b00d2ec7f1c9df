//! The State Synchronization Protocol, sans I/O, over any [`Object`].
//!
//! Two ends keep a copy of each other's object up to date over unreliable datagrams. This crate holds the protocol from
//! the sealed datagram up to the lists of sent and received states. It reads no clock, opens no socket and draws no
//! randomness. The caller defines the objects: implement [`Object`].
//!
//! A driver feeds [`Transport::handle_datagram`] and [`Transport::handle_timeout`], drains [`Transport::poll_transmit`]
//! and [`Transport::poll_event`], and sleeps until [`Transport::poll_timeout`].
//!
//! Words that all modules use: "stock" is Mosh 1.4.0, whose rules are in docs/wire.md. "Contents" are an instruction's
//! diff if it is not empty.
//!
//! # Modules, from the bottom up
//!
//! A datagram, layer by layer:
//!
//! - `wiping` overwrites the stack after work on a secret. `key` is the session key, and `nonce` makes each sealed
//!   datagram unique. `ocb` is the cipher, and `crypto` uses `ocb` with key and nonce. `record_cipher` seals the
//!   records that a client keeps on its own computer.
//! - `datagram` is the sealed form. `window` decides which sequence numbers a receiver still accepts.
//! - `fragment` cuts an instruction into datagrams. `assembler` puts it together again.
//! - `compress` is zlib. `protobuf` reads and writes fields. `instruction` is the message that carries a diff and,
//!   between two roves, a `hello` and a `loss_report`. `chaff` pads instructions.
//! - `num` has the numbers of states and datagrams, and `error` the errors of all layers. `wire` makes these layers
//!   public for tests and fuzzers.
//!
//! The path:
//!
//! - `timestamp_echo` lets the peer measure the round-trip time. `rtt` estimates it, and `rtt_min` its recent minimum.
//!   `loss_estimate` estimates the loss.
//! - `client_path` has a client's paths to its server. `hop` changes the local port. `candidates` chooses among the
//!   server's addresses. `path_revalidation` sends again after the computer's network has changed. `side_path` is a
//!   path outside the network, such as ssh. `probe_rounds` schedules probes of better paths than the one in use.
//! - `path_size` finds the largest datagram that arrives (`search`), and notices a black hole (`unanswered`).
//! - `peer_path` has the peer's address and the size of datagrams to it. `path` has measurements for users.
//! - `connection` combines these modules: it sends and receives datagrams. `carriage` seals the stream packets, which
//!   take the same path.
//!
//! States:
//!
//! - `object` is the trait that a caller implements.
//! - `sender` decides about the states to be sent. `sent_states` lists the sent states. `reference`, or
//!   `delivery_estimate` if Bayesian, decides from which of them a diff starts. `timers` decides when to send, by the
//!   `send_timing`, the waiting `changes`, the `acks` that are owed and the `answers` that the peer waits for.
//!   `repetition` sends small contents several times, `steady` paces output that answers no input, each within a
//!   `budget` of bytes. `first_contact` and `shutdown` are the start and the end of a session. `large` keeps the
//!   fragments of large contents, and `chunk` divides still larger ones into several states. `backoff` slows down
//!   unacknowledged large instructions.
//! - `receiver` keeps the states that were received, and a `journal` of their diffs for an owner that writes them down.
//! - `fragment_queue` holds the fragments of the newest instruction while they are sent.
//! - `heartbeat` decides how rarely idle ends send: a server by `backoff`, a client by the pause `announced` to it.
//! - `closing` ends a session, and lets a server linger.
//! - `companion` sends a stream packet along with datagrams while the server is silent.
//! - `config` has each policy and timer as a value. `mechanism` names the rules that an experiment can switch off.
//! - `transport` is one end: connection, sender and receiver, with its `view` for the driver. Its `resumption`
//!   continues from an end whose process is gone.
//!
//! `tests` has an object for this crate's own tests.

#![forbid(unsafe_code)]

mod assembler;
mod candidates;
mod carriage;
mod chaff;
mod client_path;
mod closing;
mod companion;
mod compress;
mod config;
mod connection;
mod crypto;
mod datagram;
mod error;
mod fragment;
mod fragment_queue;
mod heartbeat;
mod hello;
mod hop;
mod instruction;
mod journal;
mod key;
mod loss_estimate;
mod loss_report;
mod mechanism;
mod nonce;
mod num;
mod object;
mod ocb;
mod path;
mod path_revalidation;
mod path_size;
mod peer_path;
mod probe_rounds;
pub mod protobuf;
mod receiver;
mod record_cipher;
mod rtt;
mod rtt_min;
mod send_timing;
mod sender;
mod side_path;
#[cfg(test)]
mod tests;
mod timestamp_echo;
mod transport;
mod window;
mod wiping;
pub mod wire;

pub use candidates::Candidates;
pub use carriage::{Carriage, CarriedPacket};
pub use closing::Closed;
pub use config::{
    AckConfig, Config, FrameConfig, HeartbeatConfig, PathConfig, ReferencePolicy, RepetitionConfig,
    RttConfig,
};
pub use connection::{Event, Role, Transmit};
pub use datagram::Ecn;
pub use error::{ReceiveError, SendError};
pub use hello::{Capabilities, Hello, Peer};
pub use journal::ReceivedDiff;
pub use key::{Key, KeyError};
pub use mechanism::Mechanism;
pub use nonce::Direction;
pub use num::StateNum;
pub use object::{ApplyError, Object, Part};
pub use path::{Loss, Path, Traffic};
pub use record_cipher::RecordCipher;
pub use side_path::{SIDE_PATH, SidePath};
pub use transport::{Resumed, Transport};
pub use wiping::wiping;
