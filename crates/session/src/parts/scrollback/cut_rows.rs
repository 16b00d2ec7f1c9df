//! Rows that a lower window has cut off the user's terminal.

use std::collections::VecDeque;
use std::sync::Arc;

use rove_terminal::{Row, ScrollbackLine};

/// Maximum number of rows, cut off by a lower window, that wait for their line, and of lines without a row that are
/// passed over. Chosen: the rows of a high window.
const ROWS_MAX: usize = 256;

/// The rows that the terminal itself has put into its history, in order. The host cuts its screen a round trip later,
/// and sends the same rows as scrolled-off lines. If a program changes such a row before that, its line never comes.
#[derive(Debug, Default)]
pub(super) struct CutRows {
    rows: VecDeque<Arc<Row>>,
    /// How many other lines have come since the last line of a row.
    others: usize,
}

impl CutRows {
    /// Adds rows that the terminal has just cut.
    pub(super) fn add(&mut self, rows: Vec<Arc<Row>>) {
        self.rows.extend(rows);
        self.rows.truncate(ROWS_MAX);
        self.others = 0;
    }

    /// Returns whether the line is the first of the rows, and forgets this row.
    pub(super) fn takes(&mut self, line: &ScrollbackLine) -> bool {
        let is_row = self.rows.pop_front_if(|row| line.looks_like(row)).is_some();
        self.others = if is_row { 0 } else { self.others + 1 };
        if self.others > ROWS_MAX {
            self.rows.clear();
        }
        is_row
    }
}
