//! A network link as a state machine, and a virtual network to run two ends over it.
//!
//! [`Link`] delays, drops, duplicates, reorders and queues packets. The caller hands in the time. [`LinkConfig`] describes a
//! link, and [`Steps`] one that changes.
//!
//! # Modules, from the bottom up
//!
//! - `chance` draws from distributions that are not uniform. `item` is a packet with what was decided on it. `tally` counts,
//!   and `event` is the log.
//! - `loss`, `gilbert_elliott` and `outage` lose packets. `line` delays them.
//! - `fifo`, `codel`, `pie` and `fair` are disciplines of a `queue`. `serialiser`, `bucket` and `opportunities` (from a
//!   `trace`) empty it. `bottleneck` is a queue with one of these.
//! - `synthetic` makes traces from a stochastic process.
//! - `config` describes a direction of a path, and `steps` its changes. `link` runs the stages in their order.
//! - [`net`] is the virtual clock, the event queue and the pair of ends that every simulation uses.

#![forbid(unsafe_code)]

mod bottleneck;
mod bucket;
mod chance;
mod codel;
mod config;
mod event;
mod fair;
mod fifo;
mod gilbert_elliott;
mod item;
mod line;
mod link;
mod loss;
pub mod net;
mod opportunities;
mod outage;
mod pie;
mod queue;
mod serialiser;
mod steps;
mod synthetic;
mod tally;
mod trace;

pub use codel::CoDelConfig;
pub use config::{Discipline, Distribution, Drops, LinkConfig, Order};
pub use event::{Event, EventKind, mahimahi_header};
pub use fair::{FairConfig, FlowKey};
pub use gilbert_elliott::GilbertElliott;
pub use item::{DropCause, PacketId};
pub use link::Link;
pub use outage::{OnOff, OutageError, Outages, PERIOD_MIN, PeriodLength};
pub use pie::PieConfig;
pub use steps::{Netem, Steps};
pub use synthetic::Synthetic;
pub use tally::LinkStats;
pub use trace::{OPPORTUNITY, Schedule, Trace, TraceError};
