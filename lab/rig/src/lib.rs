//! Real programs in real time: sessions of rove, stock Mosh and ssh on terminals of our own, and their cost. Tests, `rove-lab compare`
//! and `cargo xtask bench` start them with this crate.
//!
//! # Modules
//!
//! - `place` says where commands run, and `system` which programs a system has.
//! - `session` is a server and its client, and `sshd` an ssh server with keys of its own.
//! - `terminal` is the user's pty, and `window` is one whose output becomes a screen.
//! - `tap` is a middlebox between a client and a server, which treats datagrams as a test wants.
//! - `process` is a process and its usage, `guard` the one limit on waiting, `scratch` a folder of a run or a test, `ports` has ports that
//!   stay closed or free, and `clock` is the clock of all of it.
//! - `load` and `yes` are floods of output, and Ctrl-C under one.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
pub mod clock;
pub mod guard;
#[cfg(target_os = "linux")]
pub mod load;
#[cfg(target_os = "linux")]
pub mod place;
pub mod ports;
#[cfg(target_os = "linux")]
pub mod process;
pub mod scratch;
#[cfg(target_os = "linux")]
pub mod session;
#[cfg(target_os = "linux")]
pub mod sshd;
#[cfg(target_os = "linux")]
pub mod system;
#[cfg(target_os = "linux")]
pub mod tap;
#[cfg(target_os = "linux")]
pub mod terminal;
#[cfg(target_os = "linux")]
pub mod window;
#[cfg(target_os = "linux")]
pub mod yes;
