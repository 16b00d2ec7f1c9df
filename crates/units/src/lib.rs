//! Time, sizes, rates and randomness: the types that every rove crate shares.
//!
//! Nothing here reads a clock or a random source, because the caller passes in each [`Instant`]. Randomness is a pure
//! function of a [`Seed`], the name of a stream and the number of a draw. So a run is repeatable to the last bit.
//!
//! # Modules
//!
//! - `time`: points in time and durations.
//! - `size`: numbers of bytes, rates in bits per second, and shares.
//! - `queue`: a full queue forgets its oldest item.
//! - `rng`: a [`Seed`] gives a [`Stream`] for each name, and a stream gives a random [`Draw`] for each number.

#![forbid(unsafe_code)]

mod queue;
mod rng;
mod size;
mod time;

pub use queue::push_newest;
pub use rng::{Draw, Seed, Stream};
pub use size::{BitRate, Bytes, ParseUnitError, parse_share};
pub use time::{Duration, Instant, parse_duration};
