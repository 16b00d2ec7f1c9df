//! A terminal emulator whose screen can be snapshotted, compared and drawn.
//!
//! [`Terminal`] turns host bytes into a [`Screen`]; [`display`] turns the difference of two screens
//! into bytes again, for the far end's replica or, through [`Renderer`], for the user's real terminal.
//! No I/O, no clock.

#![forbid(unsafe_code)]

mod cell;
mod cells;
mod charset;
mod clipboard;
mod compose;
mod cursor;
mod decoration;
mod decset;
mod dispatch;
pub mod display;
mod edit;
mod emulator;
mod keyboard;
mod mode;
mod notification;
mod osc;
mod overlay;
mod palette;
mod parameters;
mod parse;
mod print;
mod recolor;
mod rectangle;
mod region;
mod renderer;
mod reply;
mod resize;
mod row;
mod screen;
mod sgr;
mod status;
mod tabs;
mod terminal;
mod terminfo;
mod user_terminal;
mod width;
mod window;

pub use cell::{Attributes, Cell, Color, Pen, Underline};
pub use clipboard::{COPY_CHARS_MAX, Copied};
pub use cursor::Cursor;
pub use decoration::{Decoration, Hyperlink};
pub use mode::{MouseEncoding, MouseReporting};
pub use notification::{NOTIFICATION_BYTES_MAX, NOTIFICATIONS_MAX, Notification};
pub use palette::{ColorSlot, Colors, Rgb};
pub use renderer::{Outer, Renderer};
pub use row::Row;
pub use screen::{COLUMNS_MAX, Position, ROWS_MAX, Screen, Size, SizeError};
pub use status::{Progress, ProgressKind};
pub use terminal::Terminal;
pub use user_terminal::UserTerminal;
pub use width::char_width;
