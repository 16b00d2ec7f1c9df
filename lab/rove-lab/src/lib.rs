//! The program rove-lab as a library: rove's parts under examination, one command each. `docs/lab.md` describes what the
//! commands print.
//!
//! # Modules, by what they are for
//!
//! Recordings of sessions:
//!
//! - `trace` is the form in which recorded sessions are kept.
//! - `record` writes a session down. A `typist` types it from a `script`, with the pauses of a `typing_model`, or a `pump` moves
//!   the user's own keys.
//! - `screen` plays a recording into the emulator and shows the screen.
//!
//! Sessions in virtual time:
//!
//! - `replay` types the keys of a recording at the client and the server that ship. `script` and `queries` prepare the
//!   recording, `client_end` and `server_end` are the two ends, and `run` is one run. `judge` says when each answer was seen and what
//!   was wrong. `explain` and `reasons` say why. `ablation` takes mechanisms away.
//!
//! Links and programs in real time (Linux):
//!
//! - `emulate` puts a command behind a link of `rove-net`. Its `view` shows how the link does.
//! - `validate` holds that link against what it should do.
//! - `live` runs real clients and servers, in a `place`, on a `terminal`.
//! - `compare` types recorded keys at them, in an `observed_client`, while a `replayed_program` plays the host. `bulk` is downloads beside them,
//!   `burst` floods of output, and `kernel` a flow of the kernel's TCP.
//!
//! Experiments:
//!
//! - `experiment` makes figures: a `scenario` file, its `material`, a `sweep` over all runs, a `store` of finished ones.
//!   Each kind of `measure` is one file, and `system` names what is compared. `table`, `plot` and `page` present the result. `ray` spreads runs over computers.
//! - `aoi` is the study of which state a difference should start from.
//!
//! Congestion control:
//!
//! - `remy` evaluates tables and searches for them. A `prior` lists every `training_network`, `network` simulates it, an `evaluator` scores
//!   tables on it with `workers`, and `search` changes them.
//!
//! The program:
//!
//! - `cli` reads command lines, with one file for each command. `clock` is the only clock.

#![forbid(unsafe_code)]

mod aoi;
pub mod cli;
mod clock;
#[cfg(target_os = "linux")]
mod compare;
#[cfg(target_os = "linux")]
mod emulate;
mod experiment;
#[cfg(target_os = "linux")]
pub mod live;
mod record;
mod remy;
mod replay;
mod screen;
pub mod trace;
#[cfg(target_os = "linux")]
mod validate;
