//! `rove-lab sprout`: Sprout over UDP between two computers, and its figures.
//!
//! [`session`] is an end that seals what it sends, as a state machine: the same in virtual time and in real time. [`bulk`] and
//! [`tunnel`] are what it carries; `wire` moves its datagrams.

pub mod bulk;
pub mod session;
pub mod tunnel;
#[cfg(unix)]
pub mod wire;
