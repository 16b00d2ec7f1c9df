//! One row of cells, shared between snapshots until it is written.

use std::collections::BTreeMap;

use crate::cell::{Cell, Pen};

/// One row: its cells, the combining characters beside them, and whether it wraps into the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub(crate) cells: Box<[Cell]>,
    /// Combining characters by column, only where [`Cell::combined`] is set.
    pub(crate) marks: BTreeMap<u16, Box<str>>,
    pub(crate) wrapped: bool,
}

impl Row {
    /// Creates a row of `columns` empty cells as erasing with `pen` leaves them.
    pub fn erased(columns: u16, pen: Pen) -> Self {
        Self {
            cells: vec![Cell::erased(pen); usize::from(columns)].into_boxed_slice(),
            marks: BTreeMap::new(),
            wrapped: false,
        }
    }

    /// Returns the cells, left to right.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Returns the combining characters of the cell in `column`; empty for none.
    pub fn marks(&self, column: u16) -> &str {
        self.marks.get(&column).map_or("", |marks| marks)
    }

    /// Returns whether its text goes on in the next row without a line break.
    pub const fn wrapped(&self) -> bool {
        self.wrapped
    }
}
