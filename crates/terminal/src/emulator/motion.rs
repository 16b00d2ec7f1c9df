//! Movements of the cursor.

use crate::emulator::grid::Grid;
use crate::screen::{Position, Screen};

impl Grid {
    /// Returns the row that addresses count from.
    pub(crate) const fn origin_row(&self) -> u16 {
        if self.modes.origin { self.region.top } else { 0 }
    }

    /// Returns the column that addresses count from.
    pub(crate) const fn origin_column(&self) -> u16 {
        if self.modes.origin { self.region.left } else { 0 }
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

    /// Puts the cursor somewhere on the screen.
    pub(crate) fn set_cursor(&mut self, row: u16, column: u16) {
        self.screen.cursor.row = row.min(self.screen.size.rows() - 1);
        self.screen.cursor.column = column.min(self.columns() - 1);
        self.pending_wrap = false;
        self.combining_target = None;
    }

    /// Addresses the cursor: in origin mode relative to the margins and held within them.
    pub(crate) fn move_to(&mut self, row: u16, column: u16) {
        self.move_to_row(row);
        self.move_to_column(column);
    }

    /// VPA.
    pub(crate) fn move_to_row(&mut self, row: u16) {
        let row = row.saturating_add(self.origin_row());
        let last = if self.modes.origin { self.region.bottom } else { self.screen.size.rows() - 1 };
        self.set_cursor(row.min(last), self.screen.cursor.column);
    }

    /// CHA and HPA.
    pub(crate) fn move_to_column(&mut self, column: u16) {
        let column = column.saturating_add(self.origin_column());
        let last = if self.modes.origin { self.region.right } else { self.columns() - 1 };
        self.set_cursor(self.screen.cursor.row, column.min(last));
    }

    /// Moves up, stopping at the top margin if it is passed on the way.
    pub(crate) fn move_up(&mut self, count: u16) {
        let cursor = self.screen.cursor;
        let stop = if cursor.row >= self.region.top { self.region.top } else { 0 };
        self.set_cursor(cursor.row.saturating_sub(count).max(stop), cursor.column);
    }

    /// Moves down, stopping at the bottom margin if it is passed on the way.
    pub(crate) fn move_down(&mut self, count: u16) {
        let cursor = self.screen.cursor;
        let last = self.screen.size.rows() - 1;
        let stop = if cursor.row <= self.region.bottom { self.region.bottom } else { last };
        self.set_cursor(cursor.row.saturating_add(count).min(stop), cursor.column);
    }

    /// Moves left, stopping at the left margin if it is passed on the way.
    pub(crate) fn move_left(&mut self, count: u16) {
        let (cursor, start) = (self.screen.cursor, self.line_start());
        self.set_cursor(cursor.row, cursor.column.saturating_sub(count).max(start));
    }

    /// Moves right, stopping at the right margin if it is passed on the way.
    pub(crate) fn move_right(&mut self, count: u16) {
        let (cursor, end) = (self.screen.cursor, self.line_end());
        self.set_cursor(cursor.row, cursor.column.saturating_add(count).min(end));
    }

    /// BS and CUB, which in reverse wraparound do not end at the left margin. Then a pending wrap counts
    /// as a place behind the last column.
    pub(crate) fn move_back(&mut self, count: u16) {
        let Some(mode) = self.modes.reverse_wrap() else { return self.move_left(count) };
        let count = count - u16::from(self.pending_wrap);
        let Screen { cursor, size, ref rows, .. } = self.screen;
        let goes_on = |row| rows[usize::from(row)].wrapped;
        let (to, passed) = mode.step_back(cursor.position(), count, self.region, size, goes_on);
        self.effort.touch(passed);
        self.set_cursor(to.row, to.column);
    }

    /// BS. A diff of stock Mosh counts back from the column behind the last one, so in a replica
    /// the first one only takes the pending wrap back.
    pub(crate) fn backspace(&mut self) {
        if self.pending_wrap && !self.is_host() {
            self.pending_wrap = false;
            self.combining_target = None;
        } else {
            self.move_back(1);
        }
    }

    /// HT and CHT: leave a pending wrap alone, or in mode 41 wrap and go to the first stop.
    pub(crate) fn tab_forward(&mut self, count: u16) {
        let wraps = self.modes.tab_wraps && self.modes.autowrap && self.pending_wrap;
        if wraps {
            self.index();
            self.screen.cursor.column = 0;
        }
        let count = if wraps { 1 } else { count };
        let stop = self.tabs.next(self.screen.cursor.column, count);
        self.effort.touch(usize::from(stop.abs_diff(self.screen.cursor.column)));
        self.screen.cursor.column = stop.min(self.line_end());
        self.combining_target = None;
    }

    /// CBT: in origin mode no further than to the left margin.
    pub(crate) fn tab_back(&mut self, count: u16) {
        let column = self.tabs.previous(self.screen.cursor.column, count);
        self.effort.touch(usize::from(column.abs_diff(self.screen.cursor.column)));
        self.set_cursor(self.screen.cursor.row, column.max(self.origin_column()));
    }

    /// CR: to the left margin, or to the edge from beyond it.
    pub(crate) fn carriage_return(&mut self) {
        self.screen.cursor.column = self.line_start().max(self.origin_column());
        self.pending_wrap = false;
        self.combining_target = None;
    }

    /// LF, VT and FF.
    pub(crate) fn line_feed(&mut self) {
        self.index();
        if self.modes.newline {
            self.carriage_return();
        }
    }

    /// IND: down one row, scrolling at the bottom margin.
    pub(crate) fn index(&mut self) {
        let cursor = self.screen.cursor;
        if cursor.row == self.region.bottom && self.region.contains_column(cursor.column) {
            self.scroll_off(1);
            self.pending_wrap = false;
            self.combining_target = None;
        } else {
            self.move_down(1);
        }
    }

    /// RI: up one row, scrolling at the top margin.
    pub(crate) fn reverse_index(&mut self) {
        if self.screen.cursor.row == self.region.top && self.is_cursor_in_region() {
            self.scroll_down(self.region.top, 1);
            self.set_cursor(self.screen.cursor.row, self.screen.cursor.column);
        } else {
            self.move_up(1);
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

    /// Goes to the next row if the last column has been written.
    pub(crate) fn wrap_if_pending(&mut self) {
        if self.pending_wrap && self.modes.autowrap {
            if self.screen.cursor.column + 1 == self.columns() {
                self.row_mut(self.screen.cursor.row).wrapped = true;
            }
            self.go_to_next_line();
        }
    }

    /// Goes to the left margin of the next row.
    pub(crate) fn go_to_next_line(&mut self) {
        self.index();
        self.screen.cursor.column = self.region.left;
    }

    /// Puts the cursor behind the cell printed at `column`.
    pub(crate) fn advance(&mut self, row: u16, column: u16, width: u16) {
        let last = self.line_end();
        self.pending_wrap = column + width > last;
        self.screen.cursor.column = (column + width).min(last);
        self.combining_target = Some(Position { row, column });
    }
}
