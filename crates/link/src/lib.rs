//! A network link as a state machine, and a virtual network to run two ends over it.
//!
//! [`Link`] delays, drops, duplicates, reorders and queues packets; time is handed in. [`net`] is the
//! virtual clock, the event queue and the pair of ends that every simulation reuses.

#![forbid(unsafe_code)]

mod link;
pub mod net;
mod queue;
mod trace;

pub use link::{Link, LinkConfig, LinkStats};
pub use trace::{OPPORTUNITY, Schedule, Trace, TraceError};
