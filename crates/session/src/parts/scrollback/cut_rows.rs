//! Rows that the user's terminal has cut off, because its window has become lower.

use std::collections::VecDeque;
use std::sync::Arc;

use rove_terminal::{Row, ScrollbackLine};

/// Maximum number of cut-off rows that wait for their line. After more lines that match none of them, they are
/// forgotten. Chosen: the rows of a high window.
const ROWS_MAX: usize = 256;

/// The rows that the terminal itself has put into its history, in order. The host cuts its screen a round trip later,
/// and sends the same rows as scrolled-off lines. If a program changes such a row before that, its line never comes.
#[derive(Debug, Default)]
pub(super) struct CutRows {
    rows: VecDeque<Arc<Row>>,
    /// How many lines have come since the last line that was one of the rows.
    others: usize,
}

impl CutRows {
    /// Adds rows that the terminal has just cut.
    pub(super) fn add(&mut self, rows: Vec<Arc<Row>>) {
        self.rows.extend(rows);
        self.rows.truncate(ROWS_MAX);
        self.others = 0;
    }

    /// Returns whether the line looks like the first row. If so, drops this row. After too many other lines, drops all.
    pub(super) fn takes(&mut self, line: &ScrollbackLine) -> bool {
        let is_row = self.rows.pop_front_if(|row| line.looks_like(row)).is_some();
        self.others = if is_row { 0 } else { self.others + 1 };
        if self.others > ROWS_MAX {
            self.rows.clear();
        }
        is_row
    }
}
