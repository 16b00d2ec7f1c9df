//! A terminal emulator whose screen can be snapshotted, compared and drawn.
//!
//! [`Terminal`] turns host bytes into a [`Screen`]. [`display`] turns the difference of two screens into bytes again, for
//! the far end's replica or, through [`Renderer`], for the user's real terminal. There is no I/O and no clock.
//!
//! # Modules, from the bottom up
//!
//! The picture:
//!
//! - `screen` is everything that two ends must agree on. Its rows (`row`) hold cells (`cell`, `cells`), combining characters
//!   (`marks`), and links and colours of underlines (`decoration`). `glyph` is one place with all of these.
//! - Beside the cells it has a `cursor`, modes (`mode`), a `progress`, `titles` and colours (`rgb` and `palette`, with `color_space`
//!   and `intensity`).
//! - `overlay` draws on a copy of a screen, and `compose` makes one screen out of several.
//! - `width` gives the columns of a code point. `cluster_widths` gives those of a cluster, as the user's terminal counts.
//!   `newer` keeps the characters of a newer Unicode that this terminal draws wide.
//! - `scrollback` holds lines that left the screen.
//!
//! Bytes to picture:
//!
//! - `parse` is the byte parser, and `emulator` the state behind the picture. `terminal` is both together.
//! - `dispatch` calls the function that each sequence names. `grid` is what most functions change: a screen with its margins
//!   (`region`), `tabs` and `protection`. Its other methods move the cursor (`motion`, `reverse_wrap`) and `edit` cells.
//!   `print` and `rectangle` write to it, and `effort` counts its work.
//! - Each other file of `emulator` is a mechanism with its own state. `sgr`, `charset` and `recolor` choose how text looks.
//!   `decset`, `modes`, `noted_modes`, `saved_modes`, `level` and `settings` are modes. `reply`, `device`, `checksum`,
//!   `terminfo` and `window` answer programs. `titles`, `copies` and `status` keep what programs say in strings.
//! - `clipboard` and `notification` are the events that happen once.
//!
//! Picture to bytes:
//!
//! - `display` draws the difference of two screens (`canvas`, `line`, `scroll`, `motion`, `brush`), or a whole screen as
//!   lines of output (`lines`). `dialect` says for which terminal.
//! - `renderer` draws on the user's terminal, and gives back what it borrowed (`loan`, `settings`). `feed` fills the
//!   terminal's history, and `capabilities` says what the terminal can do.
//! - `user_terminal` is what the server knows of the user's terminal.
//!
//! Text and keys from outside:
//!
//! - `plain` makes foreign text harmless. `reader` reads a stream of bytes in outline.
//! - `key_event` reads keys that arrive as control sequences.

#![forbid(unsafe_code)]

mod clipboard;
mod cluster_widths;
pub mod display;
mod emulator;
mod key_event;
mod newer;
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
pub use newer::{NewerChar, NewerWide, may_be_newer};
pub use notification::{NOTIFICATION_BYTES_MAX, NOTIFICATIONS_MAX, Notification};
pub use plain::{Plain, escaped, plain};
pub use reader::{Action, ActionReader};
pub use renderer::{Renderer, TerminalCapabilities};
pub use screen::cell::{Attributes, Cell, Color, Pen, Underline};
pub use screen::cursor::Cursor;
pub use screen::decoration::{Decoration, Hyperlink};
pub use screen::glyph::Glyph;
pub use screen::mode::{MouseEncoding, MouseReporting};
pub use screen::palette::{ColorSlot, Colors};
pub use screen::progress::{Progress, ProgressKind};
pub use screen::rgb::Rgb;
pub use screen::row::Row;
pub use screen::{COLUMNS_MAX, Position, ROWS_MAX, Screen, Size, SizeError};
pub use scrollback::{SCROLLBACK_BYTES_MAX, SCROLLBACK_LINES_MAX, ScrollbackLine};
pub use terminal::{RUN_BYTES_MAX, Terminal};
pub use user_terminal::UserTerminal;
pub use width::char_width;
