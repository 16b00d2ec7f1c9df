//! Time, sizes, rates and randomness: the vocabulary every rove crate shares.
//!
//! Nothing here reads a clock or a random source. An [`Instant`] is handed in by whoever
//! drives the cores, and randomness is a pure function of a [`Seed`], a stream's name and the
//! number of the draw, so a run is repeatable to the last bit.

#![forbid(unsafe_code)]

mod rng;
mod size;
mod time;

pub use rng::{Draw, Seed, Stream};
pub use size::{BitRate, Bytes, ParseUnitError};
pub use time::{Duration, Instant, parse_duration};
