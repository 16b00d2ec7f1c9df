//! A terminal emulator whose screen can be snapshotted, compared and drawn.
//!
//! [`Terminal`] turns the host's bytes into a [`Screen`]. [`display`] turns the difference between two screens into
//! bytes for a replica at the other end. [`Renderer`] turns it into bytes for the user's real terminal. The crate has
//! no I/O and no clock.
//!
//! # Modules, from the bottom up
//!
//! The screen:
//!
//! - `screen` is the state that two ends must agree on. Its rows (`row`) hold cells (`cell`, `cells`), combining
//!   characters (`marks`), and links and colours of underlines (`decoration`). `glyph` is a cell with all of these.
//! - Besides its rows, the screen has a `size`, a `cursor`, modes (`mode`), a `progress`, `titles` and colours (`rgb`
//!   and `palette`, with `color_space` and `intensity`).
//! - `overlay` draws on a copy of a screen, and `compose` makes a screen out of several.
//! - `width` gives the width of a code point, and `cluster_widths` the width of a cluster on the user's terminal.
//!   `newer` holds characters that are newer than the tables of `width`, and that the user's terminal draws wide.
//! - `scrollback` holds lines that left the screen.
//!
//! Host bytes to the screen:
//!
//! - `parse` is the byte parser, and `emulator` performs the parsed sequences. `terminal` joins the two.
//! - `dispatch` calls the function of each sequence. Most functions change the `grid`: a screen with its margins
//!   (`region`), `tabs` and `protection`. The grid moves its cursor (`motion`, `reverse_wrap`) and can `edit` cells.
//!   `print` and `rectangle` write to it, and `effort` counts its work.
//! - Each other file of `emulator` is a separate mechanism. `sgr`, `charset` and `recolor` choose how text looks.
//!   `decset`, `modes`, `noted_modes`, `saved_modes` and `level` are modes. `reply`, `device`, `settings`, `checksum`,
//!   `terminfo` and `window` answer programs. `titles`, `copies` and `status` keep the texts that programs set.
//! - `clipboard` holds text that programs copy, and `notification` their desktop notifications.
//!
//! The screen to bytes:
//!
//! - `display` draws the difference between two screens (`canvas`, `line`, `scroll`, `motion`, `brush`), or a whole
//!   screen as lines of output (`lines`). `dialect` describes the terminal for which it draws.
//! - `renderer` draws on the user's terminal, and restores it at the end (`loan`, `settings`). `feed` writes to the
//!   terminal's history, and `capabilities` holds the terminal's capabilities.
//! - `user_terminal` holds the facts that the server knows about the user's terminal.
//!
//! The host's side of the terminal:
//!
//! - `tty` is the line discipline of the pty on which the host's programs run, as the server reports it to its client.
//!   `exit_status` states how the session's program, or the session itself, ended.
//!
//! Text and keys from outside:
//!
//! - `plain` removes harmful characters from foreign text. `reader` finds the actions in a stream of bytes.
//! - `input` reads the user's input: text, keys, pastes, and the terminal's reports and answers (`key`, `character`,
//!   `sequence`). `key_event` reads keys that arrive as control sequences.

#![forbid(unsafe_code)]

mod clipboard;
mod cluster_widths;
pub mod display;
mod emulator;
mod exit_status;
mod input;
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
mod tty;
mod user_terminal;
mod width;

pub use clipboard::{COPY_CHARS_MAX, Copied};
pub use cluster_widths::{ClusterWidths, clusters};
pub use exit_status::{Dismissal, ExitStatus, Outside};
pub use input::{Key, Keystroke, Keystrokes};
pub use key_event::KeyEvent;
pub use newer::{NewerChar, NewerWide, may_be_newer};
pub use notification::{NOTIFICATION_BYTES_MAX, NOTIFICATIONS_MAX, Notification};
pub use plain::{Plain, columns_of, escaped, plain, shortened};
pub use reader::{Action, ActionReader};
pub use renderer::{AlternateScreen, OscSupport, Renderer, TerminalCapabilities};
pub use screen::cell::{Attributes, Cell, Color, Pen, Underline};
pub use screen::cursor::Cursor;
pub use screen::decoration::{Decoration, Hyperlink};
pub use screen::glyph::Glyph;
pub use screen::mode::{InputModes, MouseEncoding, MouseReporting, RichModes};
pub use screen::palette::{ColorSlot, Colors};
pub use screen::progress::{Progress, ProgressKind};
pub use screen::rgb::Rgb;
pub use screen::row::Row;
pub use screen::{COLUMNS_MAX, Position, ROWS_MAX, Screen, Size, SizeError};
pub use scrollback::{SCROLLBACK_BYTES_MAX, SCROLLBACK_LINES_MAX, ScrollbackLine};
pub use terminal::{RUN_BYTES_MAX, Terminal};
pub use tty::{InputNum, Tty, TtyCharacters, TtyModes};
pub use user_terminal::UserTerminal;
pub use width::char_width;
