//! The program rove on Windows: the client of a session on another computer.
//!
//! # Modules
//!
//! - `cli` reads the command line, and `messages` prints sentences.
//! - `host` starts a session by an ssh process, which `ssh` runs.
//! - `client` prepares a session and prints how it ended (`ending`). `pump` loops over keys, datagrams and frames.
//!
//! On other systems only `ending` and `ssh` are compiled, for their tests.

#![forbid(unsafe_code)]

#[cfg(windows)]
mod cli;
#[cfg(windows)]
mod client;
#[cfg(any(test, windows))]
mod ending;
#[cfg(windows)]
mod host;
#[cfg(windows)]
mod messages;
#[cfg(windows)]
mod pump;
#[cfg(any(test, windows))]
mod ssh;

#[cfg(windows)]
pub use cli::run;
