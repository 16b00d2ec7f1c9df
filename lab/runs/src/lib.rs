//! Runs of an experiment, by the hundred: all processors do them, and their results become tables.
//!
//! # Modules
//!
//! - `parallel` uses all processors of this computer, and `ray` those of others.
//! - `statistics` computes figures of times and of repeated runs, and `report` makes tables of them.
//! - `shown` writes safely to the terminal, and `files` writes files whole, or for their owner alone.

#![forbid(unsafe_code)]

/// Largest first seed of repeated runs. Chosen: it leaves room for the seeds of 10,000 runs, the most of any command.
pub const FIRST_SEED_MAX: u64 = 18_446_744_073_709_541_615;

pub mod files;
pub mod parallel;
pub mod ray;
pub mod report;
pub mod shown;
pub mod statistics;
