//! The parts of the operating system that only the host needs: terminals for programs, and the programs on them.
//!
//! # Modules
//!
//! - `pty` opens a pseudo-terminal and starts a `program` on it. `modes` reads the terminal's modes, and `prompt` tells
//!   whether the session's shell, or a program that it started, waits at its own prompt. `tty_watch` says when to check
//!   modes and prompt. `piped` starts a program on pipes.
//! - `peer` names the process at the other end of a socket.
//! - `sys` is the only unsafe code.

pub mod peer;
pub mod piped;
pub mod program;
pub mod pty;
mod sys;
pub mod tty_watch;
