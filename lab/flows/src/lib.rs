//! The network between two ends, and flows of data over it, each under a congestion controller.
//!
//! # Modules
//!
//! - `path` is the network between two ends. A command line describes it in `parts`, or a file in a `schedule`.
//! - `flow` sends flows of each `contender` in virtual time, alone, `beside` a session, or from many `on_off_sources`.
//!   A `program` is a contender in another language. A `saturator` records a link. `course` has a run's slots of time.
//! - `sprout` is Sprout over UDP, for `bulk` data or a `tunnel`.
//! - `pump` moves the datagrams of an end in real time.
//! - `metrics` computes the delays of a flow, and the `age` of states.

#![forbid(unsafe_code)]

pub mod course;
pub mod flow;
pub mod metrics;
pub mod path;
#[cfg(unix)]
pub mod pump;
pub mod sprout;
