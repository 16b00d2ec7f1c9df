//! Compares our terminal emulator with two independent ones, that of Alacritty and `vt100`.
//!
//! A [`Picture`] is what any emulator shows, in one form. A [`Pair`] feeds ours and one of the other two the same
//! stream, function by function. The table [`DIFFERENCES`] holds each [`Difference`] that is on purpose, which the
//! comparison leaves out. This crate is for tests only. It is separate because the other two emulators switch on
//! features of the crate vte for everything built with them.
//!
//! # Modules, from the bottom up
//!
//! - `picture` is the common form of a screen, and `emulator` is the common form of an emulator.
//! - `function` is one function of a stream. `context` is what must be known of a terminal to judge it.
//! - `differences` is the table. `pair` compares.

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
