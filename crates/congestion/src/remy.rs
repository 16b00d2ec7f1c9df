//! RemyCC: a congestion controller that is a table of rules, found by search (Winstein and Balakrishnan, SIGCOMM 2013).
//!
//! A sender keeps a [`Memory`] of a few signals, which each acknowledgment updates. A [`Table`] divides the space of
//! these signals into boxes. Each box has an [`Action`]: how the window changes, and how far apart packets are. From
//! the bottom up: `memory`, `action`, `domain` (a box), `lookup` (the box of a memory, fast) and `table` (the rules),
//! whose faults `error` names. A table has two file forms: `dna` (published) and `readable` (rove's own). `sender` is
//! the state of one flow, and [`RemyController`] makes it a controller. The laboratory has the search.

mod action;
mod controller;
mod dna;
mod domain;
mod error;
mod lookup;
mod memory;
mod readable;
mod sender;
mod table;

pub use action::{Action, WINDOW_MAX};
pub use controller::RemyController;
pub use domain::Domain;
pub use error::TableError;
pub use memory::{AXES, Axis, Memory, MemoryTracker};
pub use sender::RemySender;
pub use table::{Rule, Table};
