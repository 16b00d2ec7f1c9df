//! A terminal emulator whose screen can be snapshotted, compared and drawn.
//!
//! [`Terminal`] turns host bytes into a [`Screen`]; [`display`] turns the difference of two screens
//! into bytes again, for the far end's replica or, through [`Renderer`], for the user's real terminal.
//! No I/O, no clock.

#![forbid(unsafe_code)]

mod cell;
mod charset;
mod cursor;
pub mod display;
mod mode;
mod overlay;
mod parse;
mod perform;
mod renderer;
mod reply;
mod row;
mod screen;
mod sgr;
mod terminal;
mod width;

pub use cell::{Attributes, Cell, Color, Pen};
pub use cursor::Cursor;
pub use mode::{MouseEncoding, MouseReporting};
pub use renderer::{Outer, Renderer};
pub use row::Row;
pub use screen::{Position, Screen, Size, SizeError};
pub use terminal::Terminal;
pub use width::char_width;
