//! Lines that have scrolled off the top of the primary screen.
//!
//! A host terminal stores these lines after [`crate::Terminal::keep_scrollback`]. As in xterm, it stores a row that
//! text, an index or SU scrolls off the top edge, if no side margins are set. It also stores a row that a shorter
//! window cuts off there. As in tmux, it also stores the rows of a screen that ED clears as a whole. It stores no rows
//! of the alternate screen. Rows removed by deleting lines or by erasing a part of the screen are not stored either.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::screen::cell::{Cell, Pen};
use crate::screen::decoration::ROW_LINK_BYTES_MAX;
use crate::screen::row::Row;
use crate::screen::{Position, Screen, Size};

/// Most scrollback lines that wait for the caller. The oldest are dropped. Chosen: the default of current terminals.
pub const SCROLLBACK_LINES_MAX: usize = 10_000;

/// Most memory of all waiting scrollback lines, in bytes. Chosen: 100 columns reach [`SCROLLBACK_LINES_MAX`] first.
pub const SCROLLBACK_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Estimated bytes of a sequence that changes the pen. Chosen: `CSI`, two numbers and the final byte.
const PEN_BYTES: usize = 8;

/// A line that has scrolled off the screen: a row without the blank cells at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScrollbackLine {
    pub(crate) row: Row,
    /// The width in columns of the screen that contained the line.
    pub(crate) columns: u16,
}

impl ScrollbackLine {
    /// Creates the scrollback line of a row.
    pub fn new(row: &Row) -> Self {
        Self { row: row.trimmed(), columns: row.columns() }
    }

    /// Creates a scrollback line of `text`, cut to `columns`.
    pub fn text(columns: u16, text: &str, pen: Pen) -> Self {
        let mut screen = Screen::blank(Size::clamped(columns, 1));
        screen.write_text(Position { row: 0, column: 0 }, text, pen);
        Self::new(&screen.rows[0])
    }

    /// Returns the width in columns of the screen that contained the line.
    pub const fn columns(&self) -> u16 {
        self.columns
    }

    /// Returns whether the text wraps into the next line, so that both are one line of the program.
    pub const fn wrapped(&self) -> bool {
        self.row.wrapped()
    }

    /// Returns the line, marked as wrapping into the next line or not.
    #[must_use]
    pub fn with_wrapped(mut self, wrapped: bool) -> Self {
        self.row.wrapped = wrapped;
        self
    }

    /// Returns whether `row` has the same width, text and look. Ignores whether the line or the row wraps.
    pub fn looks_like(&self, row: &Row) -> bool {
        let cells = self.row.cells.len();
        self.columns == row.columns()
            && self.row.cells[..] == row.cells[..cells]
            && row.cells[cells..].iter().all(|cell| *cell == Cell::default())
            && self.row.marks == row.marks
            && self.row.decorations == row.decorations
    }

    /// Returns the approximate memory of the line in bytes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() - size_of::<Row>() + self.row.bytes()
    }

    /// Returns the approximate number of bytes that draw the line on a terminal.
    pub fn text_bytes(&self) -> usize {
        let mut pen = Pen::default();
        let cell_bytes = |cell: &Cell| {
            let changed = core::mem::replace(&mut pen, cell.pen) != cell.pen;
            cell.base.map_or(1, char::len_utf8) + if changed { PEN_BYTES } else { 0 }
        };
        let cells: usize = self.row.cells.iter().map(cell_bytes).sum();
        cells + self.row.marks.bytes() + self.row.decorations.bytes() + 2
    }

    /// Returns the line as rows that are `columns` wide. A longer line becomes several rows, and an empty line one.
    pub fn rows(&self, columns: u16) -> impl Iterator<Item = Row> + use<'_> {
        let mut start = 0;
        let mut is_begun = false;
        core::iter::from_fn(move || {
            let end = self.row.columns();
            if core::mem::replace(&mut is_begun, true) && start >= end {
                return None;
            }
            let row = self.piece(start, columns);
            start = self.piece_end(start, columns);
            Some(row)
        })
    }

    /// Returns the column after the piece of at most `columns` columns from `start` on. Cuts no wide character in half.
    fn piece_end(&self, start: u16, columns: u16) -> u16 {
        let end = self.row.columns().min(start.saturating_add(columns));
        let cuts = end > start + 1
            && end < self.row.columns()
            && self.row.cells[usize::from(end) - 1].wide;
        end - u16::from(cuts)
    }

    fn piece(&self, start: u16, columns: u16) -> Row {
        let end = self.piece_end(start, columns);
        let mut row = Row::erased(columns, Pen::default());
        row.copy_columns(&self.row, start..end, 0, ROW_LINK_BYTES_MAX);
        row.trim_wide();
        let is_last = end == self.row.columns();
        // Only a full row can wrap into the next row.
        let is_full = end - start + 1 >= columns;
        row.wrapped = is_full && (!is_last || self.row.wrapped && columns == self.columns);
        row
    }
}

/// The scrollback lines that the caller has not taken, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scrollback {
    lines: VecDeque<ScrollbackLine>,
    bytes: usize,
    /// The number of lines pushed so far, including dropped lines.
    end: u64,
}

impl Scrollback {
    /// Adds a row that has scrolled off. Drops the oldest lines beyond the limits.
    pub(crate) fn push(&mut self, row: &Row) {
        let line = ScrollbackLine::new(row);
        self.bytes += line.bytes();
        self.lines.push_back(line);
        self.end += 1;
        while self.lines.len() > SCROLLBACK_LINES_MAX || self.bytes > SCROLLBACK_BYTES_MAX {
            self.pop();
        }
    }

    /// Adds the rows of a screen that will be cleared, except blank rows at its end. Counts the rows read and added.
    pub(crate) fn push_screen(&mut self, rows: &[Arc<Row>]) -> (usize, usize) {
        let (mut written, mut looked_at) = (rows.len(), 0);
        while let Some(last) = rows[..written].last() {
            // Rows that were erased together share memory.
            let is_known = rows.get(written).is_some_and(|below| Arc::ptr_eq(below, last));
            looked_at += usize::from(!is_known);
            if !is_known && last.cells.iter().any(|cell| !cell.is_blank()) {
                break;
            }
            written -= 1;
        }
        rows[..written].iter().for_each(|row| self.push(row));
        if let Some(last) = self.lines.back_mut().filter(|_| written > 0) {
            // The next row, into which this line may have wrapped, is cleared.
            last.row.wrapped = false;
        }
        (looked_at, written)
    }

    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Removes the oldest line, and returns it with its number. `None` if there are no lines.
    pub(crate) fn pop(&mut self) -> Option<(u64, ScrollbackLine)> {
        let waiting = u64::try_from(self.lines.len()).expect("a length fits 64 bits");
        let line = self.lines.pop_front()?;
        self.bytes -= line.bytes();
        debug_assert!(
            !self.lines.is_empty() || self.bytes == 0,
            "each line's memory is given back"
        );
        Some((self.end - waiting, line))
    }
}

#[cfg(test)]
mod tests;
