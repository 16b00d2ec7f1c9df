//! The program rove on Windows: the client of a session that runs already on another computer.
//!
//! # Modules
//!
//! - `cli` reads the command line, and `messages` prints sentences.
//! - `client` prepares a session and says how it ended (`ending`). `pump` is the loop over keys, datagrams and frames.
//!
//! On other systems only `ending` is there, for its tests.

#![forbid(unsafe_code)]

#[cfg(windows)]
mod cli;
#[cfg(windows)]
mod client;
#[cfg(any(test, windows))]
mod ending;
#[cfg(windows)]
mod messages;
#[cfg(windows)]
mod pump;

#[cfg(windows)]
pub use cli::run;
