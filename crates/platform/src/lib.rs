//! The parts of the operating system that both ends of a session use: clock, event loop, signals and the user's terminal.
//! The host's parts are in `rove-host`. A module that only one program needs belongs to that program.
//!
//! # Modules
//!
//! - `clock` is the only clock. `event_loop` is the only place to wait. `alarm` ends a wait in time, even after the
//!   computer has slept. `select` waits for the terminals that poll refuses.
//! - `signals` handles the signals that a program was started with.
//! - `tty` is the user's terminal.
//! - `termux` names the folders of Termux on Android.
//! - `network_watch` reports a change of the computer's network. `route_message` reads the reports of macOS and FreeBSD.
//! - `sys` is the only unsafe code.

pub mod alarm;
pub mod clock;
pub mod event_loop;
pub mod network_watch;
#[cfg(any(test, target_os = "macos", target_os = "freebsd"))]
mod route_message;
mod select;
pub mod signals;
mod sys;
pub mod termux;
pub mod tty;
