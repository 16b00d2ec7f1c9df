//! The scrolling region: the cells between the margins.

use std::ops::Range;

use crate::screen::Size;

/// The scrolling region: its first and last row and column, which count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) top: u16,
    pub(crate) bottom: u16,
    pub(crate) left: u16,
    pub(crate) right: u16,
}

impl Region {
    pub(crate) const fn full(size: Size) -> Self {
        Self { top: 0, bottom: size.rows() - 1, left: 0, right: size.columns() - 1 }
    }

    pub(crate) const fn contains_row(self, row: u16) -> bool {
        self.top <= row && row <= self.bottom
    }

    pub(crate) const fn contains_column(self, column: u16) -> bool {
        self.left <= column && column <= self.right
    }

    pub(crate) const fn columns(self) -> Range<u16> {
        self.left..self.right + 1
    }
}
