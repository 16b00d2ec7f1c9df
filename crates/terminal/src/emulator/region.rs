//! Margins, and what moves between those at the sides (DECSLRM).
//!
//! Nearly always the margins at the sides are the edges of the screen; then whole rows move
//! (`emulator.rs`), and nothing here is called.

use std::ops::Range;
use std::sync::Arc;

use crate::emulator::Emulator;
use crate::screen::Size;
use crate::screen::decoration::row_link_bytes_max;
use crate::screen::row::Row;

/// The scrolling region: rows and columns, all inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) top: u16,
    pub(crate) bottom: u16,
    pub(crate) left: u16,
    pub(crate) right: u16,
}

impl Region {
    /// Returns the region that is the whole screen.
    pub(crate) const fn full(size: Size) -> Self {
        Self { top: 0, bottom: size.rows() - 1, left: 0, right: size.columns() - 1 }
    }

    /// Returns whether `row` lies within the margins.
    pub(crate) const fn contains_row(self, row: u16) -> bool {
        self.top <= row && row <= self.bottom
    }

    /// Returns whether `column` lies within the margins.
    pub(crate) const fn contains_column(self, column: u16) -> bool {
        self.left <= column && column <= self.right
    }

    /// Returns the columns within the margins.
    pub(crate) const fn columns(self) -> Range<u16> {
        self.left..self.right + 1
    }
}

impl Emulator {
    /// Returns whether the margins at the sides are the edges of the screen.
    pub(crate) const fn has_full_width(&self) -> bool {
        self.region.left == 0 && self.region.right + 1 == self.columns()
    }

    /// Returns whether the cursor is between all four margins.
    pub(crate) const fn is_cursor_in_region(&self) -> bool {
        let cursor = self.screen.cursor;
        self.region.contains_row(cursor.row) && self.region.contains_column(cursor.column)
    }

    /// Returns the column that is the first for movements from the cursor to the left.
    pub(crate) const fn line_start(&self) -> u16 {
        if self.screen.cursor.column >= self.region.left { self.region.left } else { 0 }
    }

    /// Returns the column that is the last for text and movements from the cursor on.
    pub(crate) const fn line_end(&self) -> u16 {
        let last = self.columns() - 1;
        if self.screen.cursor.column <= self.region.right { self.region.right } else { last }
    }

    /// Mode 69: whether margins at the sides can be set; without it there are none.
    pub(crate) const fn set_side_margin_mode(&mut self, set: bool) {
        self.modes.side_margins = set;
        if !set {
            let Region { left, right, .. } = Region::full(self.screen.size);
            self.region.left = left;
            self.region.right = right;
        }
    }

    /// DECSLRM; `right` 0 means the last column.
    pub(crate) fn set_side_margins(&mut self, left: u16, right: u16) {
        let columns = self.columns();
        let right = if right == 0 { columns } else { right.min(columns) };
        if left < right {
            self.region.left = left - 1;
            self.region.right = right - 1;
            self.move_to(0, 0);
        }
    }

    /// Moves what is between the margins at the sides, from `top` to the bottom margin, up.
    pub(crate) fn scroll_columns_up(&mut self, top: u16, count: u16) {
        for row in top..=self.region.bottom {
            self.replace_columns(row, row.checked_add(count));
        }
    }

    /// Moves what is between the margins at the sides, from `top` to the bottom margin, down.
    pub(crate) fn scroll_columns_down(&mut self, top: u16, count: u16) {
        for row in (top..=self.region.bottom).rev() {
            self.replace_columns(row, row.checked_sub(count).filter(|&from| from >= top));
        }
    }

    /// Gives `row` the columns of another one that is within the margins, or else empties them.
    fn replace_columns(&mut self, row: u16, from: Option<u16>) {
        let columns = self.region.columns();
        match from.filter(|&from| from <= self.region.bottom) {
            Some(from) => {
                let from = Arc::clone(&self.screen.rows[usize::from(from)]);
                self.copy_cells(&from, columns.clone(), row, columns.start);
            }
            None => self.erase_in_row(row, columns),
        }
    }

    /// Copies the cells of `columns` to a place in a row.
    pub(crate) fn copy_cells(&mut self, from: &Row, columns: Range<u16>, row: u16, column: u16) {
        self.effort.touch(columns.len());
        self.effort.copy_beside(from);
        self.effort.copy_beside(&self.screen.rows[usize::from(row)]);
        let link_bytes_max = self.row_link_bytes_max();
        self.row_mut(row).copy_columns(from, columns, column, link_bytes_max);
    }

    /// Shifts what stands at and behind `column` right, up to the right margin.
    pub(crate) fn insert_in_row(&mut self, row: u16, column: u16, count: u16) {
        let (pen, host, end) = (self.screen.pen, self.is_host(), self.region.right + 1);
        self.count_shift(row, column);
        if end == self.columns() {
            let row = self.row_mut_at(row, column);
            row.insert(column, count, pen);
            if host {
                row.trim_wide();
            }
        } else {
            let count = count.min(end - column);
            let from = Arc::clone(&self.screen.rows[usize::from(row)]);
            self.copy_cells(&from, column..end - count, row, column + count);
            self.erase_in_row(row, column..column + count);
        }
    }

    /// Removes cells at `column`; what stands behind, up to the right margin, moves left.
    pub(crate) fn delete_in_row(&mut self, row: u16, column: u16, count: u16) {
        let (pen, end) = (self.screen.pen, self.region.right + 1);
        self.count_shift(row, column);
        if end == self.columns() {
            self.row_mut_at(row, column).delete(column, count, pen);
        } else {
            let count = count.min(end - column);
            let from = Arc::clone(&self.screen.rows[usize::from(row)]);
            self.copy_cells(&from, column + count..end, row, column);
            self.erase_in_row(row, end - count..end);
        }
    }

    /// Counts that the rest of a row from `column` on is shifted.
    fn count_shift(&mut self, row: u16, column: u16) {
        self.effort.touch(usize::from(self.columns().saturating_sub(column)));
        self.effort.move_beside(&self.screen.rows[usize::from(row)], 2);
    }

    /// SR and DECIC: shifts all rows between the margins right from `column` on. A wrap stays pending, as in xterm.
    pub(crate) fn insert_columns(&mut self, column: u16, count: u16) {
        for row in self.region.top..=self.region.bottom {
            self.insert_in_row(row, column, count);
        }
    }

    /// SL and DECDC: removes columns from all rows between the margins. A wrap stays pending.
    pub(crate) fn delete_columns(&mut self, column: u16, count: u16) {
        for row in self.region.top..=self.region.bottom {
            self.delete_in_row(row, column, count);
        }
    }

    /// DECBI: left one column, shifting at the left margin.
    pub(crate) fn back_index(&mut self) {
        if self.screen.cursor.column != self.region.left {
            self.move_left(1);
        } else if self.is_cursor_in_region() {
            self.insert_columns(self.region.left, 1);
        }
    }

    /// DECFI: right one column, shifting at the right margin.
    pub(crate) fn forward_index(&mut self) {
        if self.screen.cursor.column != self.region.right {
            self.move_right(1);
        } else if self.is_cursor_in_region() {
            self.delete_columns(self.region.left, 1);
        }
    }

    /// Returns the most bytes of hyperlinks that a row may hold.
    pub(crate) fn row_link_bytes_max(&self) -> usize {
        let most = row_link_bytes_max(self.screen.size);
        if self.is_host() { most } else { 2 * most }
    }
}
