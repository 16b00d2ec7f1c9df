//! Recordings of terminal sessions: making them, showing them, and replaying their keys at the real client and server.
//!
//! # Modules
//!
//! - `trace` is the form in which recorded sessions are kept.
//! - `record` writes a session down. A `typist` types it from a `script`, with the pauses of a `typing_model`, or a `pump` moves
//!   the user's own keys.
//! - `screen` plays a recording into the emulator and shows the screen. `clock` is the only clock.
//! - `replay` types the keys of a recording at rove's own client and server. `script` and `queries` prepare the
//!   recording, `client_end` and `server_end` are the two ends, and `run` is one run. `judge` says when each answer was
//!   seen and what was wrong. `explain` and `reasons` say why. `ablation` leaves out one mechanism at a time.

#![forbid(unsafe_code)]

mod clock;
pub mod record;
pub mod replay;
pub mod screen;
pub mod trace;
