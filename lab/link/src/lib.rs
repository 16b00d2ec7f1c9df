//! A network link as a state machine, and a virtual network to run two ends over it.
//!
//! [`Link`] delays, drops, duplicates, reorders and queues packets; time is handed in. [`LinkConfig`] describes one, and
//! [`Steps`] one that changes. From the bottom up:
//!
//! - `chance`: draws that are not uniform. `item`: a packet with what was decided on it. `tally`, `event`: counters and log.
//! - Loss: `loss`, `gilbert_elliott`, `outage`. Delay: `line`.
//! - The bottleneck: `fifo`, `codel`, `pie` → `queue`; `serialiser`, `bucket`, `trace` → `opportunities`; `bottleneck`.
//! - `synthetic`: traces from a stochastic process. `config`, `steps`, `link`: the stages in their order.
//! - [`net`]: the virtual clock, the event queue and the pair of ends that every simulation reuses.

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
pub use config::{Discipline, Distribution, LinkConfig, Order};
pub use event::{Event, EventKind, mahimahi_header};
pub use fair::{FairConfig, FlowKey};
pub use gilbert_elliott::GilbertElliott;
pub use item::PacketId;
pub use link::Link;
pub use outage::{OnOff, OutageError, Outages, PERIOD_MIN, PeriodLength};
pub use pie::PieConfig;
pub use steps::{Netem, Steps};
pub use synthetic::Synthetic;
pub use tally::{DropCause, LinkStats};
pub use trace::{OPPORTUNITY, Schedule, Trace, TraceError};
