//! Movements of the cursor.

use crate::emulator::grid::Grid;
use crate::screen::{Position, Screen};

impl Grid {
    /// Returns the row from which cursor addresses count: 0, or the top margin in origin mode.
    pub(crate) const fn origin_row(&self) -> u16 {
        if self.modes.origin { self.region.top } else { 0 }
    }

    /// Returns the column from which cursor addresses count: 0, or the left margin in origin mode.
    pub(crate) const fn origin_column(&self) -> u16 {
        if self.modes.origin { self.region.left } else { 0 }
    }

    /// Returns the column at which motions to the left stop: the left margin, or 0 for a cursor left of this margin.
    pub(crate) const fn line_start(&self) -> u16 {
        if self.screen.cursor.column >= self.region.left { self.region.left } else { 0 }
    }

    /// Returns the column at which text and motions to the right stop. It is the right margin, or the last column for a
    /// cursor right of this margin.
    pub(crate) const fn line_end(&self) -> u16 {
        let last = self.columns() - 1;
        if self.screen.cursor.column <= self.region.right { self.region.right } else { last }
    }

    /// Moves the cursor, and ends a pending wrap. A position outside the screen becomes the nearest position inside.
    pub(crate) fn set_cursor(&mut self, row: u16, column: u16) {
        self.screen.cursor.row = row.min(self.screen.size.rows() - 1);
        self.screen.cursor.column = column.min(self.columns() - 1);
        self.pending_wrap = false;
        self.combining_target = None;
    }

    /// Moves the cursor to an address counted from the origin (CUP, HVP). In origin mode it stays within the margins.
    pub(crate) fn move_to(&mut self, row: u16, column: u16) {
        self.move_to_row(row);
        self.move_to_column(column);
    }

    /// Moves the cursor to a row, counted from the origin (VPA).
    pub(crate) fn move_to_row(&mut self, row: u16) {
        let row = row.saturating_add(self.origin_row());
        let last = if self.modes.origin { self.region.bottom } else { self.screen.size.rows() - 1 };
        self.set_cursor(row.min(last), self.screen.cursor.column);
    }

    /// Moves the cursor to a column, counted from the origin (CHA, HPA).
    pub(crate) fn move_to_column(&mut self, column: u16) {
        let column = column.saturating_add(self.origin_column());
        let last = if self.modes.origin { self.region.right } else { self.columns() - 1 };
        self.set_cursor(self.screen.cursor.row, column.min(last));
    }

    /// Moves the cursor up (CUU). A cursor at or below the top margin stops at the margin.
    pub(crate) fn move_up(&mut self, count: u16) {
        let cursor = self.screen.cursor;
        let stop = if cursor.row >= self.region.top { self.region.top } else { 0 };
        self.set_cursor(cursor.row.saturating_sub(count).max(stop), cursor.column);
    }

    /// Moves the cursor down (CUD). A cursor at or above the bottom margin stops at the margin.
    pub(crate) fn move_down(&mut self, count: u16) {
        let cursor = self.screen.cursor;
        let last = self.screen.size.rows() - 1;
        let stop = if cursor.row <= self.region.bottom { self.region.bottom } else { last };
        self.set_cursor(cursor.row.saturating_add(count).min(stop), cursor.column);
    }

    /// Moves the cursor left. A cursor at or right of the left margin stops at the margin.
    pub(crate) fn move_left(&mut self, count: u16) {
        let (cursor, start) = (self.screen.cursor, self.line_start());
        self.set_cursor(cursor.row, cursor.column.saturating_sub(count).max(start));
    }

    /// Moves the cursor right (CUF). A cursor at or left of the right margin stops at the margin.
    pub(crate) fn move_right(&mut self, count: u16) {
        let (cursor, end) = (self.screen.cursor, self.line_end());
        self.set_cursor(cursor.row, cursor.column.saturating_add(count).min(end));
    }

    /// Moves the cursor left (CUB, BS). With reverse wraparound, the motion continues in the row above, and a pending
    /// wrap counts as a column.
    pub(crate) fn move_back(&mut self, count: u16) {
        let Some(mode) = self.modes.reverse_wrap() else { return self.move_left(count) };
        let count = count - u16::from(self.pending_wrap);
        let Screen { cursor, size, ref rows, .. } = self.screen;
        let goes_on = |row| rows[usize::from(row)].wrapped;
        let (to, passed) = mode.step_back(cursor.position(), count, self.region, size, goes_on);
        self.effort.touch(passed);
        self.set_cursor(to.row, to.column);
    }

    /// Moves the cursor left by one column (BS). Diffs of stock Mosh assume that a pending wrap puts the cursor after
    /// the last column. So in a replica, the first BS only ends a pending wrap.
    pub(crate) fn backspace(&mut self) {
        if self.pending_wrap && !self.is_host() {
            self.pending_wrap = false;
            self.combining_target = None;
        } else {
            self.move_back(1);
        }
    }

    /// Moves the cursor to a later tab stop (HT, CHT), and keeps a pending wrap. In mode 41, a pending wrap moves the
    /// cursor to the first tab stop of the next row instead.
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

    /// Moves the cursor to an earlier tab stop (CBT). In origin mode it stops at the left margin.
    pub(crate) fn tab_back(&mut self, count: u16) {
        let column = self.tabs.previous(self.screen.cursor.column, count);
        self.effort.touch(usize::from(column.abs_diff(self.screen.cursor.column)));
        self.set_cursor(self.screen.cursor.row, column.max(self.origin_column()));
    }

    /// Moves the cursor to the left margin (CR). A cursor left of it moves to the first column, unless in origin mode.
    pub(crate) fn carriage_return(&mut self) {
        self.screen.cursor.column = self.line_start().max(self.origin_column());
        self.pending_wrap = false;
        self.combining_target = None;
    }

    /// Moves the cursor down one row (LF, VT, FF). In newline mode (LNM), the cursor also moves to the left margin.
    pub(crate) fn line_feed(&mut self) {
        self.index();
        if self.modes.newline {
            self.carriage_return();
        }
    }

    /// Moves the cursor down one row (IND). At the bottom margin, between the side margins, the region scrolls instead.
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

    /// Moves the cursor up one row (RI). At the top margin, between the side margins, the region scrolls down instead.
    pub(crate) fn reverse_index(&mut self) {
        if self.screen.cursor.row == self.region.top && self.is_cursor_in_region() {
            self.scroll_down(self.region.top, 1);
            self.set_cursor(self.screen.cursor.row, self.screen.cursor.column);
        } else {
            self.move_up(1);
        }
    }

    /// Moves the cursor left one column (DECBI). At the left margin the region's text moves right instead.
    pub(crate) fn back_index(&mut self) {
        if self.screen.cursor.column != self.region.left {
            self.move_left(1);
        } else if self.is_cursor_in_region() {
            self.insert_columns(self.region.left, 1);
        }
    }

    /// Moves the cursor right one column (DECFI). At the right margin the region's text moves left instead.
    pub(crate) fn forward_index(&mut self) {
        if self.screen.cursor.column != self.region.right {
            self.move_right(1);
        } else if self.is_cursor_in_region() {
            self.delete_columns(self.region.left, 1);
        }
    }

    /// Performs a pending wrap if autowrap is set. Marks the row as wrapped if the cursor is in the last column, and
    /// moves the cursor to the next row.
    pub(crate) fn wrap_if_pending(&mut self) {
        if self.pending_wrap && self.modes.autowrap {
            if self.screen.cursor.column + 1 == self.columns() {
                self.row_mut(self.screen.cursor.row).wrapped = true;
            }
            self.go_to_next_line();
        }
    }

    /// Moves the cursor to the left margin of the next row.
    pub(crate) fn go_to_next_line(&mut self) {
        self.index();
        self.screen.cursor.column = self.region.left;
    }

    /// Moves the cursor after a character of `width` columns printed at `column`. At the line's end, a wrap is pending.
    pub(crate) fn advance(&mut self, row: u16, column: u16, width: u16) {
        let last = self.line_end();
        debug_assert!(column <= last, "a character is printed within the margins");
        self.pending_wrap = column + width > last;
        self.screen.cursor.column = (column + width).min(last);
        self.combining_target = Some(Position { row, column });
    }
}
