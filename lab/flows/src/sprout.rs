//! `rove-lab sprout`: Sprout over UDP between two computers, and its figures.
//!
//! [`session`] is an end that seals its datagrams, as a state machine for virtual and real time. [`bulk`] and
//! [`tunnel`] are the data that it carries; `wire` moves its datagrams.

pub mod bulk;
pub mod session;
pub mod tunnel;
#[cfg(unix)]
pub mod wire;
