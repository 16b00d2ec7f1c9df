//! Feeds the scrollback history of the user's terminal. The text that was on the screen when the session began comes
//! first. Lines that scroll off at the host follow. No other rows may enter the history, and no line may be lost.

use std::sync::Arc;

use super::capabilities::TerminalCapabilities;
use crate::display::{Dialect, History, make_room, picture, scroll_off};
use crate::screen::Screen;
use crate::screen::row::Row;
use crate::scrollback::ScrollbackLine;

/// The renderer's knowledge about the main screen and history of the user's terminal.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Feed {
    /// Whether the caller passes the lines that scroll off at the host. Otherwise the renderer gets only frames.
    is_followed: bool,
    /// Whether the main screen still displays the text from before the session.
    is_new: bool,
    /// The height of the last frame on the main screen, in rows, or 0 if there was none.
    rows: u16,
    /// An upper bound of the rows that the session has put into the terminal's history. At the start, the renderer adds
    /// all rows but one, as if the cursor was in the bottom row. If `fed` is too low, lines of the user's history are
    /// lost when the window grows. If it is too high, some rows of the screen enter the history twice.
    fed: u64,
}

impl Feed {
    pub(super) const fn follow(&mut self) {
        self.is_followed = true;
    }

    pub(super) const fn is_followed(&self) -> bool {
        self.is_followed
    }

    pub(super) const fn open(&mut self) {
        self.is_new = true;
    }

    /// Returns which rows of a frame may enter the terminal's history. `is_main`: the frame is on the main screen.
    pub(super) const fn history(
        &self,
        capabilities: &TerminalCapabilities,
        is_main: bool,
    ) -> History {
        match (capabilities.scrollback && is_main, self.is_followed) {
            (true, true) => History::LinesOnly,
            (true, false) => History::FramesOnly,
            (false, _) => History::Frames,
        }
    }

    /// Appends the bytes that scroll `lines` into the terminal's history, and then change the terminal's screen from
    /// `shown` to `frame`. Returns `out` with these bytes.
    pub(super) fn frame(
        &mut self,
        mut out: Vec<u8>,
        lines: &[ScrollbackLine],
        (shown, frame): (&Screen, &Screen),
        repaint: bool,
        dialect: Dialect,
    ) -> Vec<u8> {
        let size = frame.size();
        if core::mem::take(&mut self.is_new) {
            // The user's text above the cursor's row scrolls into the history. `CSI r` would move the cursor.
            out.extend(b"\x1b[m\r");
            out.extend((1..size.rows()).map(|_| b'\n'));
            self.fed += u64::from(size.rows()) - 1;
        } else if repaint && self.rows > 0 {
            // A terminal that the user has made higher has moved lines from its history back to the screen.
            let more = size.rows().saturating_sub(self.rows);
            make_room(&mut out, size, more.min(u16::try_from(self.fed).unwrap_or(u16::MAX)));
        }
        self.rows = size.rows();
        if lines.is_empty() {
            return picture(out, shown, frame, repaint, dialect);
        }
        let mut shown = shown.clone();
        if repaint {
            let blank = Screen { cursor: frame.cursor, ..Screen::blank(size) };
            out = picture(out, &shown, &blank, true, dialect);
            shown = blank;
        }
        let rows = lines.iter().flat_map(|line| line.rows(size.columns()));
        let rows: Vec<Arc<Row>> = rows.map(Arc::new).collect();
        self.fed += u64::try_from(rows.len()).expect("a length fits 64 bits");
        let (out, shown) = scroll_off(out, &shown, &rows, dialect);
        picture(out, &shown, frame, false, dialect)
    }
}

/// Moves the cursor to the line below all displayed text, where the next program's output begins.
pub(super) fn go_below(out: &mut Vec<u8>, shown: &Screen, is_main: bool) {
    let is_written = |row: &Arc<Row>| row.cells.iter().any(|cell| !cell.is_blank());
    let end = shown.rows.len() - shown.rows.iter().rev().take_while(|row| !is_written(row)).count();
    let cursor = usize::from(shown.cursor.row) + usize::from(shown.cursor.column > 0);
    // While the alternate screen is displayed, the content of the main screen is unknown.
    let row = if is_main { end.max(cursor) } else { shown.rows.len() };
    if row < shown.rows.len() {
        out.extend(format!("\x1b[{};1H", row + 1).as_bytes());
    } else {
        out.extend(format!("\x1b[{row};1H\r\n").as_bytes());
    }
}

#[cfg(test)]
mod tests;
