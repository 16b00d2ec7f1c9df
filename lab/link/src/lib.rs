//! A network link as a state machine, and a virtual network that connects two ends by links.
//!
//! [`Link`] delays, drops, duplicates, reorders and queues packets. The caller passes the time to it. [`LinkConfig`]
//! describes a link, and [`Steps`] a link whose config changes with time.
//!
//! # Modules, from the bottom up
//!
//! - `chance` draws from distributions that are not uniform. `item` is a packet with the random decisions about it.
//!   `tally` counts packets, and `event` describes a link's log.
//! - `loss`, `gilbert_elliott` and `outage` lose packets. `line` delays packets.
//! - `fifo`, `codel`, `pie` and `fair` are parts of a `queue`. A `serialiser`, a token `bucket` or `opportunities`
//!   (from a `trace`) empty the queue. `bottleneck` joins a queue with one of these three.
//! - `synthetic` makes traces from a stochastic process.
//! - `config` describes a link, and `steps` its changes with time. `link` runs the stages in their order.
//! - [`net`] has the virtual clock, the event queue and the two ends that every simulation uses.

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
