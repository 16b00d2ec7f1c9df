//! A published study of how the older state, from which a diff starts, affects the age of information at a receiver.
//!
//! [`study`] runs the experiment in virtual time: a [`sender`] with its [`estimator`] of round trips, and a
//! [`receiver`], exchange [`datagram`]s. `experiment` measures the same age with rove's own transport.

pub(crate) use self::study::Study;

mod datagram;
mod estimator;
mod receiver;
mod sender;
mod study;
