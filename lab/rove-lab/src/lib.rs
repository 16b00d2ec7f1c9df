//! The program rove-lab as a library: rove's parts under examination, one command each. `docs/lab.md` describes what the
//! commands print.
//!
//! # Modules, by what they are for
//!
//! Links and programs in real time (Linux):
//!
//! - `emulate` puts a command behind a link of `rove-net`.
//! - `validate` compares that link with what it should do.
//! - `compare` types recorded keys at real clients, each an `observed_client`; a `replayed_program` plays the host.
//!   `bulk` has downloads beside them, `interrupts` Ctrl-C under a flood, `kernel` and `controlled` single flows.
//!
//! Experiments:
//!
//! - `experiment` makes figures: a `scenario` file, its `material`, a `sweep` over all runs, a `store` of finished ones.
//!   Each kind of `measure` is one file. `system` names what is compared, a `system_file` by its file. `table`, `plot`
//!   and `page` present the result. `spread` has runs done on other computers.
//! - `picture` draws curves as SVG. `link_trace` has statistics, parts and pictures of recorded links.
//! - `aoi` is the study of which state a difference should start from.
//!
//! `cli` reads command lines. The texts of help and manual pages are in TOML files.

#![forbid(unsafe_code)]

mod aoi;
pub mod cli;
#[cfg(target_os = "linux")]
mod compare;
#[cfg(target_os = "linux")]
mod emulate;
mod experiment;
mod link_trace;
mod picture;
#[cfg(target_os = "linux")]
mod validate;
