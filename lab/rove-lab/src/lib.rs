//! The program rove-lab as a library: rove's parts under examination, one command each.
//!
//! `screen` plays a recording into the emulator that ships and shows what it makes of it. `record` records a
//! session, and [`trace`] is the form in which recorded sessions are kept; `replay` types their keys at the
//! client and the server that ship, and judges the answers. [`mod@emulate`] puts a command behind a link in real time; `validate` holds
//! that link against what it should do. [`live`] runs real clients and servers, and `compare` types
//! recorded keys at them over such a link. `aoi` asks which state a difference should start from. [`flow`] sends flows
//! in virtual time, [`contest`] scores what controls them, [`sprout`] is Sprout over UDP, [`metrics`] are their delays, `path` is the network between two ends as a command line describes it. [`cli`] reads command lines and calls the
//! commands; `clock` is the only clock. What the commands print is described in `docs/lab.md`.

#![forbid(unsafe_code)]

mod aoi;
pub mod cli;
mod clock;
#[cfg(target_os = "linux")]
mod compare;
pub mod contest;
#[cfg(target_os = "linux")]
pub mod emulate;
mod experiment;
pub mod flow;
#[cfg(target_os = "linux")]
pub mod live;
pub mod metrics;
mod parallel;
mod path;
mod private;
mod record;
mod remy;
mod replay;
mod screen;
mod shown;
pub mod sprout;
pub mod trace;
#[cfg(target_os = "linux")]
mod validate;
