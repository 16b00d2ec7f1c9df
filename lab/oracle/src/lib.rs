//! Compares our terminal emulator with two independent ones, `alacritty_terminal` and `vt100`.
//!
//! A [`Picture`] is what all of them show. A [`Pair`] feeds one of the two and ours the same stream,
//! function by function, and leaves out what a [`Difference`] of the one table, [`DIFFERENCES`], says
//! is done differently on purpose. For tests only; a crate of its own, since these two switch
//! features of `vte` on for whatever is built with them.

#![forbid(unsafe_code)]

mod context;
mod differences;
mod emulator;
mod function;
mod pair;
mod picture;

pub use context::Context;
pub use differences::{DIFFERENCES, Difference, Who};
pub use emulator::{Alacritty, Emulator, Oracle, Ours, Vt100};
pub use function::Function;
pub use pair::{Mismatch, Pair};
pub use picture::{Look, Picture};
