//! The study of which state a difference should start from, by the age of information at the receiver.
//!
//! [`study`] is an experiment that somebody published, in virtual time: a [`sender`] with its [`estimator`] of round trips
//! and a [`receiver`], with their [`datagram`]s. The same question to the transport that ships is a measure of `experiment`.

pub(crate) use self::study::Study;

mod datagram;
mod estimator;
mod receiver;
mod sender;
mod study;
