//! This computer, as the programs see it: what both of them need of it, and no more.
//!
//! `clock` is the only clock, `event_loop` the only place to wait (with `alarm`, which also rings after a
//! sleep). `tty` is the terminal of the user, `pty` one for a `program` that is
//! started here, and `tty_watch` says when to look at its modes. `signals` is what a program does about
//! those it was started with. `network_watch` says when the network has changed, `cpu_latency` keeps processors from
//! sleeping. `namespace`, `netlink` and `tap` are Linux's networks: namespaces, their interfaces, and the cables of
//! those; `reaper` ends what is left in them. What only one of the programs needs is kept there.

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
