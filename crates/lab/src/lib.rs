//! The program rove-lab as a library: rove's parts under examination, one command each.
//!
//! `screen` plays a recording into the emulator that ships and shows what it makes of it. [`trace`]
//! reads and writes recorded sessions. [`cli`] reads command lines and calls the commands; `clock` is the
//! only clock. What the commands print is described in `docs/lab.md`.

#![forbid(unsafe_code)]

pub mod cli;
mod clock;
mod screen;
pub mod trace;
