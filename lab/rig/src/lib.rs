//! Runs real programs in real time: sessions of rove, stock Mosh and ssh on terminals of this crate. Measures their
//! cost. The users are tests, `rove-lab compare` and `cargo xtask bench`.
//!
//! # Modules
//!
//! - `place` determines where commands run, and `system` which programs they run.
//! - `session` is a server and its client. `sshd` is an ssh server with its own keys.
//! - `terminal` is the user's pty. `window` is a terminal whose output is drawn on a screen.
//! - `tap` is a middlebox between a client and a server, which treats datagrams as a test wants.
//! - `process` is a process and its usage, `guard` the limit of all waits, and `scratch` a temporary folder. `ports`
//!   has ports that stay closed or free. `clock` is the only clock.
//! - `load` is a flood of output. `yes` measures Ctrl-C during the output of `yes`.

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
