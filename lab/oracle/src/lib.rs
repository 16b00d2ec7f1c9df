//! Compares our terminal emulator with two independent ones, Alacritty's and that of the crate vt100.
//!
//! A [`Picture`] is the screen of any emulator in a common form. A [`Pair`] executes the same stream in our emulator
//! and in another one, function by function. The comparison leaves out each deliberate [`Difference`] in the table
//! [`DIFFERENCES`]. This crate is for tests only. It is separate because the other emulators turn on features of the
//! crate vte for everything that is built with them.
//!
//! # Modules, from the bottom up
//!
//! - `picture` is the common form of a screen, and `emulator` is the common form of an emulator.
//! - `function` is a function of a stream. `context` is the state of a terminal that determines a function's effect.
//! - `differences` is the table of deliberate differences. `pair` compares two emulators.

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
