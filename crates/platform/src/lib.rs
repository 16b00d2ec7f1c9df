//! The parts of the operating system that programs use: clock, event loop, signals and terminals. A module that only
//! one program needs belongs to that program.
//!
//! # Modules
//!
//! - `clock` is the only clock. `event_loop` is the only place to wait. `alarm` ends a wait in time, even after the
//!   computer has slept. `select` waits for the terminals that poll refuses.
//! - `signals` handles the signals that a program was started with.
//! - `tty` is the user's terminal. `pty` is a terminal for a `program` that is started here. `modes` reads its line
//!   discipline, and `prompt` tells whether the session's shell, or a program of it, waits at its own prompt.
//!   `tty_watch` says when to check modes and prompt. `piped` starts a program on pipes.
//! - `termux` names the folders of Termux on Android.
//! - `network_watch` reports a change of the computer's network. `route_message` reads the reports of macOS and FreeBSD.
//! - `peer` names the process at the other end of a socket.
//! - `sys` is the only unsafe code.

pub mod alarm;
pub mod clock;
pub mod event_loop;
pub mod network_watch;
pub mod peer;
pub mod piped;
pub mod program;
pub mod pty;
#[cfg(any(test, target_os = "macos", target_os = "freebsd"))]
mod route_message;
mod select;
pub mod signals;
mod sys;
pub mod termux;
pub mod tty;
pub mod tty_watch;
