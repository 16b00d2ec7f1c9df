//! The client's queue of lines that are to be scrolled into the user's terminal.

use std::collections::VecDeque;
use std::sync::Arc;

use rove_terminal::{Attributes, Pen, Row, SCROLLBACK_LINES_MAX, ScrollbackLine};

use super::cut_rows::CutRows;
use super::{LINE_BYTES, Scrolled};

/// Maximum number of scrolled-off lines written at once. Chosen: a modern terminal scrolls them in a few milliseconds.
const TAKEN_MAX: usize = 512;

/// Maximum number of cells of the scrolled-off lines that are written at once; a longer line is written alone. Chosen:
/// drawing them takes a few milliseconds.
const TAKEN_CELLS_MAX: usize = 16_384;

/// Memory limit of the scrolled-off lines that wait, in bytes. Chosen: room for 10,000 lines of 25 characters.
pub(super) const WAITING_BYTES_MAX: usize = 6 * 1024 * 1024;

/// An entry of the queue of scrolled-off lines for the user's terminal.
#[derive(Clone, Debug)]
enum Due {
    Line(Arc<ScrollbackLine>),
    /// This many lines are missing here, because the server or the client had to drop them.
    Missing(u64),
}

/// Lines that wait to be written, for example because the user's terminal is given back to the shell or shows its
/// alternate screen. At most [`SCROLLBACK_LINES_MAX`] entries wait, of [`WAITING_BYTES_MAX`] bytes together. Above
/// either bound the oldest lines are dropped, and one [`Due::Missing`] counts them.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// The number of the first line that the client has not seen.
    seen: u64,
    /// Rows that the terminal itself has put into its history.
    cut: CutRows,
    due: VecDeque<Due>,
    bytes: usize,
    /// How many lines have been reported to the user as missing.
    told_missing: u64,
}

impl Inbox {
    /// Handles rows that a lower window has cut off the terminal's screen. The terminal itself has put them into its
    /// history.
    pub(crate) fn handle_cut(&mut self, rows: Vec<Arc<Row>>) {
        self.cut.add(rows);
    }

    /// Queues the lines of the server's newest state that the client has not seen, except those that the terminal
    /// itself has put into its history.
    pub(crate) fn look(&mut self, state: &Scrolled) {
        for held in state.from(self.seen) {
            if let Some(missing) = held.number.checked_sub(self.seen).filter(|missing| *missing > 0)
            {
                self.add(Due::Missing(missing));
            }
            self.seen = held.number + 1;
            if !self.cut.takes(&held.line) {
                self.push(Arc::clone(&held.line));
            }
        }
    }

    pub(super) fn push(&mut self, line: Arc<ScrollbackLine>) {
        self.add(Due::Line(line));
    }

    fn add(&mut self, due: Due) {
        self.bytes += due.bytes();
        self.due.push_back(due);
        while self.due.len() > SCROLLBACK_LINES_MAX || self.bytes > WAITING_BYTES_MAX {
            let mut missing = 0;
            // The first two entries become one count of missing lines. The first of them may be such a count already.
            for due in self.due.drain(..self.due.len().min(2)) {
                self.bytes -= due.bytes();
                missing += due.lines();
            }
            self.due.push_front(Due::Missing(missing));
        }
    }

    /// Returns whether lines wait to be written to the terminal.
    pub(crate) fn is_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// Returns how many lines the user's terminal has not received: dropped lines, and lines that wait.
    pub(crate) fn missing(&self) -> u64 {
        self.told_missing + self.due.iter().map(Due::lines).sum::<u64>()
    }

    /// Returns how many entries wait, and their size in bytes.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> (usize, usize) {
        (self.due.len(), self.due.iter().map(Due::bytes).sum())
    }

    /// Removes and returns the next lines, within [`TAKEN_MAX`] and [`TAKEN_CELLS_MAX`]. `columns` is the terminal's
    /// width, for the line that reports missing lines.
    pub(crate) fn take(&mut self, columns: u16) -> Vec<ScrollbackLine> {
        let mut cells = 0;
        let fits = |due: &&Due| {
            cells += due.cells();
            cells <= TAKEN_CELLS_MAX
        };
        let taken = self.due.iter().take(TAKEN_MAX).take_while(fits).count().max(1);
        let taken = taken.min(self.due.len());
        let due = self.due.drain(..taken);
        let lines: Vec<_> = due
            .map(|due| match due {
                Due::Line(line) => Arc::unwrap_or_clone(line),
                Due::Missing(count) => {
                    self.told_missing += count;
                    notice(columns, count)
                }
            })
            .collect();
        self.bytes = self.due.iter().map(Due::bytes).sum();
        lines
    }
}

impl Due {
    fn bytes(&self) -> usize {
        match self {
            Self::Line(line) => size_of::<Self>() + LINE_BYTES + line.bytes(),
            Self::Missing(_) => 0,
        }
    }

    fn cells(&self) -> usize {
        match self {
            Self::Line(line) => usize::from(line.columns()),
            Self::Missing(_) => 0,
        }
    }

    fn lines(&self) -> u64 {
        match self {
            Self::Line(_) => 1,
            Self::Missing(count) => *count,
        }
    }
}

/// Returns the line that reports `count` missing lines to the user. Each was a row of the host's screen: a longer line
/// of output counts several times.
fn notice(columns: u16, count: u64) -> ScrollbackLine {
    let rows = if count == 1 { "row" } else { "rows" };
    let pen = Pen { attributes: Attributes::FAINT, ..Pen::default() };
    ScrollbackLine::text(columns, &format!("[… {count} {rows} not kept]"), pen)
}
