//! Linux's network namespaces, which are networks without devices, and a link between two of them in real time.
//!
//! # Modules
//!
//! - `namespace`, `netlink` and `tap` are network namespaces, their interfaces and the ends of the interfaces' cables.
//!   `reaper` ends the processes in namespaces if the program is killed.
//! - `testbed` is two namespaces with an emulated link between them. `plumbing` makes the two sides, with addresses
//!   from `address`. `driver` moves packets between the sides through the link. It has a `log`, a `meter` and a record
//!   of its `lateness`.
//! - `sys` is the only unsafe code.

#![cfg(target_os = "linux")]

mod address;
mod driver;
mod lateness;
mod log;
mod meter;
pub mod namespace;
pub mod netlink;
mod plumbing;
pub mod reaper;
mod sys;
pub mod tap;
pub mod testbed;

pub use address::Addresses;
pub use driver::Flow;
pub use lateness::{Histogram, Summary};
pub use log::DIRECTIONS;
pub use meter::Offered;
pub use plumbing::{Device, Far, acquire_rights};
