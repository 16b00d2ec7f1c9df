//! What the fuzz targets do: inputs from outside, and what must hold whatever they are.
//!
//! Each public function takes the fuzzer's bytes and panics when something does not hold. A hang and
//! a flood of memory are the fuzzer's to notice.

#![forbid(unsafe_code)]

pub mod differential;
pub mod ends;
mod forger;
pub mod objects;
mod script;
pub mod terminal;
pub mod wire;
