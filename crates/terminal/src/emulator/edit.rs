//! Erases, inserts and deletes cells and lines.

use std::ops::Range;
use std::sync::Arc;

use crate::emulator::grid::Grid;
use crate::emulator::protection::{Erasing, unprotected_run};
use crate::emulator::region::Region;
use crate::screen::cell::{Cell, Pen};
use crate::screen::row::Row;

impl Grid {
    /// Erases the cells of `columns` in a row. The erased cells get the current background colour.
    pub(crate) fn erase_in_row(&mut self, row: u16, columns: Range<u16>) {
        let pen = self.screen.pen;
        if columns.len() == usize::from(self.columns()) {
            self.clear_row(row);
        } else if !self.screen.rows[usize::from(row)].is_erased(columns.clone(), pen) {
            self.effort.touch(columns.len());
            self.row_mut_at(row, columns.start).erase(columns, pen);
        }
    }

    /// Erases the cells of `columns` in a row, except protected cells if this kind of erasing spares them.
    pub(crate) fn erase_sparing(&mut self, row: u16, columns: Range<u16>, erasing: Erasing) {
        if !self.protection.spares(erasing) {
            return self.erase_in_row(row, columns);
        }
        self.effort.touch(columns.len());
        let mut rest = columns;
        while !rest.is_empty() {
            let run = unprotected_run(&self.screen.rows[usize::from(row)].cells, rest.clone());
            rest.start = run.end;
            if !run.is_empty() {
                self.erase_in_row(row, run);
            }
        }
    }

    /// Erases the cursor's row (EL, DECSEL): from the cursor on (0), up to the cursor (1), or completely (2).
    pub(crate) fn erase_line(&mut self, what: u16, erasing: Erasing) {
        let cursor = self.screen.cursor;
        let columns = match what {
            0 => cursor.column..self.columns(),
            1 => 0..cursor.column + 1,
            2 => 0..self.columns(),
            _ => return,
        };
        self.pending_wrap = false;
        self.erase_sparing(cursor.row, columns, erasing);
    }

    /// Erases the screen (ED, DECSED): from the cursor on (0), up to the cursor (1), or completely (2).
    pub(crate) fn erase_display(&mut self, what: u16, erasing: Erasing) {
        let (row, end) = (self.screen.cursor.row, self.screen.size.rows());
        let rows = match what {
            0 => row + 1..end,
            1 => 0..row,
            2 => 0..end,
            _ => return,
        };
        self.pending_wrap = false;
        if what < 2 {
            self.erase_line(what, erasing);
        }
        if self.protection.spares(erasing) {
            rows.for_each(|row| self.erase_sparing(row, 0..self.columns(), erasing));
        } else {
            self.clear_rows(usize::from(rows.start)..usize::from(rows.end));
        }
    }

    /// Erases the whole screen, including protected cells.
    pub(crate) fn clear_screen(&mut self) {
        self.pending_wrap = false;
        self.clear_rows(0..self.screen.rows.len());
    }

    fn clear_rows(&mut self, rows: Range<usize>) {
        self.drop_rows(rows.clone());
        let blank = self.blank_row();
        self.screen.rows[rows].fill(blank);
    }

    /// Erases `count` cells from the cursor on (ECH).
    pub(crate) fn erase_cells(&mut self, count: u16) {
        let cursor = self.screen.cursor;
        let end = cursor.column.saturating_add(count).min(self.columns());
        self.pending_wrap = false;
        self.erase_sparing(cursor.row, cursor.column..end, Erasing::Plain);
    }

    /// Inserts `count` empty cells at a cursor between the side margins (ICH, and each character in insert mode).
    pub(crate) fn insert_cells(&mut self, count: u16) {
        let cursor = self.screen.cursor;
        self.pending_wrap = false;
        if self.region.contains_column(cursor.column) {
            self.insert_in_row(cursor.row, cursor.column, count);
        }
    }

    /// Deletes `count` cells at a cursor between the side margins (DCH).
    pub(crate) fn delete_cells(&mut self, count: u16) {
        let cursor = self.screen.cursor;
        self.pending_wrap = false;
        if self.region.contains_column(cursor.column) {
            self.delete_in_row(cursor.row, cursor.column, count);
        }
    }

    /// Inserts `count` empty lines at a cursor within the margins (IL). The cursor moves to the left margin.
    pub(crate) fn insert_lines(&mut self, count: u16) {
        if self.is_cursor_in_region() {
            self.scroll_down(self.screen.cursor.row, count);
            self.carriage_return();
        }
    }

    /// Deletes `count` lines at a cursor within the margins (DL). The cursor moves to the left margin.
    pub(crate) fn delete_lines(&mut self, count: u16) {
        if self.is_cursor_in_region() {
            self.scroll_up(self.screen.cursor.row, count);
            self.carriage_return();
        }
    }

    /// Inserts `count` empty cells at `column`. The cells from `column` to the right margin move right.
    pub(crate) fn insert_in_row(&mut self, row: u16, column: u16, count: u16) {
        let (pen, host, end) = (self.screen.pen, self.is_host(), self.region.right + 1);
        debug_assert!(column < end, "cells are inserted within the margins");
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

    /// Deletes `count` cells at `column`. The following cells, up to the right margin, move left.
    pub(crate) fn delete_in_row(&mut self, row: u16, column: u16, count: u16) {
        let (pen, end) = (self.screen.pen, self.region.right + 1);
        debug_assert!(column < end, "cells are deleted within the margins");
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

    /// Counts the effort of moving all cells of a row from `column` on.
    fn count_shift(&mut self, row: u16, column: u16) {
        self.effort.touch(usize::from(self.columns().saturating_sub(column)));
        self.effort.move_beside(&self.screen.rows[usize::from(row)], 2);
    }

    /// Inserts `count` columns at `column` in all rows between the margins (SR, DECIC). Keeps a pending wrap.
    pub(crate) fn insert_columns(&mut self, column: u16, count: u16) {
        for row in self.region.top..=self.region.bottom {
            self.insert_in_row(row, column, count);
        }
    }

    /// Deletes `count` columns at `column` in all rows between the margins (SL, DECDC). Keeps a pending wrap.
    pub(crate) fn delete_columns(&mut self, column: u16, count: u16) {
        for row in self.region.top..=self.region.bottom {
            self.delete_in_row(row, column, count);
        }
    }

    /// Counts the effort of dropping rows, and of freeing their marks and links if no snapshot shares them.
    fn drop_rows(&mut self, rows: Range<usize>) {
        self.effort.move_rows(rows.len());
        for row in &self.screen.rows[rows] {
            if Arc::strong_count(row) == 1 {
                self.effort.copy_beside(row);
            }
        }
    }

    /// Fills the screen with `E` in the default pen, resets the margins and homes the cursor (DECALN).
    pub(crate) fn fill_with_e(&mut self) {
        let mut row = Row::erased(self.columns(), Pen::default());
        row.cells.fill(Cell { base: Some('E'), ..Cell::default() });
        let row = Arc::new(row);
        self.effort.touch(2 * usize::from(self.columns()));
        self.drop_rows(0..self.screen.rows.len());
        self.screen.rows.fill(row);
        self.region = Region::full(self.screen.size);
        self.modes.origin = false;
        self.move_to(0, 0);
    }
}
