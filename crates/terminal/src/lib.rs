//! A terminal emulator whose screen can be snapshotted, compared and drawn.
//!
//! [`Terminal`] turns host bytes into a [`Screen`]; [`display`] turns the difference of two screens
//! into bytes again, for the far end's replica or, through [`Renderer`], for the user's real terminal.
//! No I/O, no clock.

#![forbid(unsafe_code)]

mod clipboard;
mod cluster_widths;
pub mod display;
mod emulator;
mod key_event;
mod notification;
mod parse;
mod plain;
mod reader;
mod renderer;
mod screen;
mod scrollback;
mod terminal;
mod user_terminal;
mod width;

pub use clipboard::{COPY_CHARS_MAX, Copied};
pub use cluster_widths::{ClusterWidths, clusters};
pub use key_event::KeyEvent;
pub use notification::{NOTIFICATION_BYTES_MAX, NOTIFICATIONS_MAX, Notification};
pub use plain::{Plain, escaped, plain};
pub use reader::{Action, ActionReader};
pub use renderer::{Outer, Renderer};
pub use screen::cell::{Attributes, Cell, Color, Pen, Underline};
pub use screen::cursor::Cursor;
pub use screen::decoration::{Decoration, Hyperlink};
pub use screen::glyph::Glyph;
pub use screen::mode::{MouseEncoding, MouseReporting};
pub use screen::palette::{ColorSlot, Colors, Rgb};
pub use screen::progress::{Progress, ProgressKind};
pub use screen::row::Row;
pub use screen::{COLUMNS_MAX, Position, ROWS_MAX, Screen, Size, SizeError};
pub use scrollback::{SCROLLBACK_BYTES_MAX, SCROLLBACK_LINES_MAX, ScrollbackLine};
pub use terminal::{RUN_BYTES_MAX, Terminal};
pub use user_terminal::UserTerminal;
pub use width::char_width;
