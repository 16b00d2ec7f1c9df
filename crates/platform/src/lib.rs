//! The computer as the programs see it: clock, event loop, terminals and network namespaces. A module that only one program
//! needs belongs to that program.
//!
//! # Modules
//!
//! - `clock` is the only clock. `event_loop` is the only place to wait. `alarm` ends a wait, also after a sleep of the
//!   computer.
//! - `signals` handles the signals that a program was started with.
//! - `tty` is the user's terminal. `pty` is a terminal for a `program` that is started here. `modes` is its line discipline,
//!   and `prompt` tells whether the session's shell waits at its own prompt. `tty_watch` says when to look at both.
//! - `network_watch` reports a change of the computer's network. `cpu_latency` keeps processors from sleeping.
//! - `namespace`, `netlink` and `tap` are Linux's network namespaces, their interfaces and the cables of those. `reaper`
//!   ends the processes in them if the program is killed.
//! - `sys` is the only unsafe code.

pub mod alarm;
pub mod clock;
#[cfg(target_os = "linux")]
pub mod cpu_latency;
pub mod event_loop;
#[cfg(target_os = "linux")]
pub mod namespace;
#[cfg(target_os = "linux")]
pub mod netlink;
pub mod network_watch;
pub mod program;
pub mod pty;
#[cfg(target_os = "linux")]
pub mod reaper;
pub mod signals;
mod sys;
#[cfg(target_os = "linux")]
pub mod tap;
pub mod tty;
pub mod tty_watch;
