//! The client's lines: those that are still to be scrolled into the user's terminal.

use std::collections::VecDeque;
use std::sync::Arc;

use rove_terminal::{Attributes, Pen, SCROLLBACK_LINES_MAX, ScrollbackLine};

use super::{LINE_BYTES, Scrolled};

/// Most lines at once. Chosen: a terminal of today takes so many in a few milliseconds.
const TAKEN_MAX: usize = 512;

/// Most cells of the lines at once, unless a single line has more. Chosen: to draw so many takes a few milliseconds.
const TAKEN_CELLS_MAX: usize = 16_384;

/// Most memory that they take, in bytes. Chosen: 10,000 lines of 25 characters.
const WAITING_BYTES_MAX: usize = 6 * 1024 * 1024;

/// An entry to scroll into the terminal.
#[derive(Clone, Debug)]
enum Due {
    Line(Arc<ScrollbackLine>),
    /// So many lines were not kept.
    Missing(u64),
}

/// The lines that wait for the user's terminal, which may have been given back or show its alternate
/// screen. Bounded as at the host; the oldest are dropped and counted.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// The number after the last that was seen.
    seen: u64,
    due: VecDeque<Due>,
    bytes: usize,
    /// How many lines were said to be missing.
    told_missing: u64,
}

impl Inbox {
    /// Looks at the server's newest state.
    pub(crate) fn look(&mut self, state: &Scrolled) {
        for held in state.from(self.seen) {
            if let Some(missing) = held.number.checked_sub(self.seen).filter(|missing| *missing > 0)
            {
                self.due.push_back(Due::Missing(missing));
            }
            self.seen = held.number + 1;
            self.push(Arc::clone(&held.line));
        }
    }

    pub(crate) fn push(&mut self, line: Arc<ScrollbackLine>) {
        let due = Due::Line(line);
        self.bytes += due.bytes();
        self.due.push_back(due);
        if self.due.len() > SCROLLBACK_LINES_MAX || self.bytes > WAITING_BYTES_MAX {
            let mut missing = 0;
            // A note that lines are missing and the line after it, or two lines: one note remains.
            for due in self.due.drain(..self.due.len().min(2)) {
                self.bytes -= due.bytes();
                missing += due.lines();
            }
            self.due.push_front(Due::Missing(missing));
        }
    }

    /// Returns whether there are lines for the terminal.
    pub(crate) fn is_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// Returns how many lines are missing so far, counting those that wait.
    pub(crate) fn missing(&self) -> u64 {
        self.told_missing + self.due.iter().map(Due::lines).sum::<u64>()
    }

    /// Removes and returns the next lines, for a terminal of so many columns.
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

/// Returns the line shown in the place of lines that were not kept.
fn notice(columns: u16, count: u64) -> ScrollbackLine {
    let lines = if count == 1 { "line" } else { "lines" };
    let pen = Pen { attributes: Attributes::FAINT, ..Pen::default() };
    ScrollbackLine::text(columns, &format!("[… {count} {lines} not kept]"), pen)
}
