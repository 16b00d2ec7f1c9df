//! Real programs in real time: sessions of rove, stock Mosh and ssh on terminals of our own, and their cost. Tests, `rove-lab compare`
//! and `cargo xtask bench` start them with this crate.
//!
//! # Modules
//!
//! - `place` says where commands run, and `system` which programs a system has.
//! - `session` is a server and its client, and `sshd` an ssh server with keys of its own.
//! - `terminal` is the user's pty, and `window` is one with a picture.
//! - `process` is a process and its usage, `scratch` a folder of a run, and `clock` the clock of all of it.
//! - `load` and `yes` are floods of output, and Ctrl-C under one.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

pub mod clock;
pub mod load;
pub mod place;
pub mod process;
pub mod scratch;
pub mod session;
pub mod sshd;
pub mod system;
pub mod terminal;
pub mod window;
pub mod yes;
