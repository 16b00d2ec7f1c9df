//! Linux's network namespaces: a network of its own for any program, without a device.
//!
//! # Modules
//!
//! - `namespace`, `netlink` and `tap` are network namespaces, their interfaces and the cables of those. `reaper` ends the
//!   processes in them if the program is killed.
//! - `sys` is the only unsafe code.

#![cfg(target_os = "linux")]

pub mod namespace;
pub mod netlink;
pub mod reaper;
mod sys;
pub mod tap;
