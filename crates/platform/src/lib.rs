//! The parts of the operating system that both ends of a session use: clock, event loop, signals and the user's
//! terminal. The host's parts are in `rove-host`. A module that only one program needs belongs to that program.
//!
//! # Modules
//!
//! - `clock` is the only clock. `event_loop` is the only place to wait. `alarm` ends a wait on time, even after the
//!   computer has slept. `idle_turns` spares the processor if a deadline stays in the past. `select` waits for
//!   terminals that poll(2) refuses.
//! - `signals` resets the signal settings that a program inherits.
//! - `tty` is the user's terminal.
//! - `termux` names the folders of Termux on Android.
//! - `network_watch` reports a change of the computer's network. `route_message` reads reports of macOS and FreeBSD.
//! - On Windows, `clock`, `event_loop` and `tty` have files of their own: the user's terminal is a console, whose
//!   keys `console_keys` translates.
//! - `sys` is the only unsafe code.

#[cfg(unix)]
pub mod alarm;
#[cfg_attr(windows, path = "windows/clock.rs")]
pub mod clock;
#[cfg(any(test, windows))]
mod console_keys;
#[cfg_attr(windows, path = "windows/event_loop.rs")]
pub mod event_loop;
mod idle_turns;
#[cfg(unix)]
pub mod network_watch;
#[cfg(any(test, target_os = "macos", target_os = "freebsd"))]
mod route_message;
#[cfg(unix)]
mod select;
#[cfg(unix)]
pub mod signals;
mod sys;
#[cfg(unix)]
pub mod termux;
#[cfg_attr(windows, path = "windows/tty.rs")]
pub mod tty;
