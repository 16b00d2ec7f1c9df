//! A published study: from which older state a diff should start, judged by the age of information at the receiver.
//!
//! [`study`] runs a published experiment in virtual time: a [`sender`] with its [`estimator`] of round trips, and a
//! [`receiver`], exchange [`datagram`]s. `experiment` measures the same age with the transport that ships.

pub(crate) use self::study::Study;

mod datagram;
mod estimator;
mod receiver;
mod sender;
mod study;
