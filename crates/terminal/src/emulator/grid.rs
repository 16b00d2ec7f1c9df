//! The grid: a screen, and the state that decides where and how functions change its cells.

use std::ops::Range;
use std::sync::Arc;

use crate::emulator::effort::Effort;
use crate::emulator::modes::TextModes;
use crate::emulator::protection::{Erasing, Protection};
use crate::emulator::region::Region;
use crate::emulator::resize::resize_rows;
use crate::emulator::tabs::TabStops;
use crate::screen::cell::{Color, Underline};
use crate::screen::decoration::row_link_bytes_max;
use crate::screen::row::Row;
use crate::screen::{Position, Screen, Size};
use crate::scrollback::Scrollback;

/// The source of the bytes that a terminal performs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Programs on a pty write the bytes. The terminal answers their queries, and blanks a wide character that loses a
    /// half.
    Host,
    /// The bytes are diffs from the other end of the connection. The next diff relies on the exact result of this one.
    Replica,
}

/// A screen with its margins, text modes, tab stops, protection and pending wrap.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    pub(crate) role: Role,
    pub(crate) screen: Screen,
    pub(crate) region: Region,
    pub(crate) modes: TextModes,
    pub(crate) protection: Protection,
    pub(crate) tabs: TabStops,
    /// Whether the column at the right margin or edge was written, so that the next character first wraps.
    pub(crate) pending_wrap: bool,
    /// The cell that was printed last, which combining characters join. `None` after a motion of the cursor: combining
    /// characters then join the cell under the cursor.
    pub(crate) combining_target: Option<Position>,
    /// The lines that have scrolled off. `None` until a call of [`crate::Terminal::keep_scrollback`].
    pub(crate) scrollback: Option<Box<Scrollback>>,
    /// The work done so far ([`crate::Terminal::effort`]).
    pub(crate) effort: Effort,
    /// An empty row in the last used background colour. Cleared rows can share its memory.
    blank: Arc<Row>,
}

impl Grid {
    pub(crate) fn new(size: Size, role: Role) -> Self {
        let screen = Screen::blank(size);
        let blank = Arc::clone(&screen.rows[0]);
        Self {
            role,
            screen,
            region: Region::full(size),
            modes: TextModes::default(),
            protection: Protection::Off,
            tabs: TabStops::new(size.columns()),
            pending_wrap: false,
            combining_target: None,
            scrollback: None,
            effort: Effort::default(),
            blank,
        }
    }

    pub(crate) const fn is_host(&self) -> bool {
        matches!(self.role, Role::Host)
    }

    pub(crate) const fn columns(&self) -> u16 {
        self.screen.size.columns()
    }

    /// Returns whether the side margins are the edges of the screen.
    pub(crate) const fn has_full_width(&self) -> bool {
        self.region.left == 0 && self.region.right + 1 == self.columns()
    }

    pub(crate) const fn is_cursor_in_region(&self) -> bool {
        let cursor = self.screen.cursor;
        self.region.contains_row(cursor.row) && self.region.contains_column(cursor.column)
    }

    /// Returns the most bytes of hyperlinks in a row. A replica allows twice as many, because in the middle of a diff a
    /// row has both old and new links.
    pub(crate) fn row_link_bytes_max(&self) -> usize {
        let most = row_link_bytes_max(self.screen.size);
        if self.is_host() { most } else { 2 * most }
    }

    /// Returns an empty row in the current background colour.
    pub(crate) fn blank_row(&mut self) -> Arc<Row> {
        self.refresh_blank();
        Arc::clone(&self.blank)
    }

    fn refresh_blank(&mut self) {
        let erased = self.screen.pen.erased();
        if self.blank.cells[0].pen != erased || self.blank.columns() != self.columns() {
            self.effort.touch(usize::from(self.columns()));
            self.blank = Arc::new(Row::erased(self.columns(), erased));
        }
    }

    /// Returns the text of a cell: its base character and its marks. Empty for a cell without a base character.
    pub(crate) fn text_at(&self, at: Position) -> String {
        let row = &self.screen.rows[usize::from(at.row)];
        // Marks without a base character form no cluster with later text.
        let Some(base) = row.cells[usize::from(at.column)].base else { return String::new() };
        format!("{base}{}", row.marks(at.column))
    }

    /// Returns a row for writing. Copies the row first if a snapshot shares it.
    pub(crate) fn row_mut(&mut self, row: u16) -> &mut Row {
        let slot = &mut self.screen.rows[usize::from(row)];
        if Arc::strong_count(slot) > 1 {
            self.effort.copy_row(slot);
        }
        Arc::make_mut(slot)
    }

    /// Returns a row for writing from `column` on. A host terminal blanks a wide character that `column` cuts in half.
    pub(crate) fn row_mut_at(&mut self, row: u16, column: u16) -> &mut Row {
        let host = self.is_host();
        self.effort.move_behind(&self.screen.rows[usize::from(row)], column);
        let row = self.row_mut(row);
        if host {
            row.split_wide(column);
        }
        row
    }

    /// Gives the current hyperlink to cells just written, and the underline colour if they are underlined.
    pub(crate) fn decorate(&mut self, row: u16, columns: Range<u16>) {
        let mut decoration = self.screen.decoration.clone();
        if self.screen.pen.attributes.underline() == Underline::None {
            decoration.underline_color = Color::Default;
        }
        let link_bytes_max = self.row_link_bytes_max();
        self.effort.move_behind(&self.screen.rows[usize::from(row)], columns.start);
        self.row_mut(row).decorations.set(columns, &decoration, link_bytes_max);
    }

    /// Scrolls the region up (SU, and IND at the bottom margin). Rows that leave the primary screen at its top edge
    /// enter the scrollback.
    pub(crate) fn scroll_off(&mut self, count: u16) {
        if self.region.top == 0
            && !self.screen.rich.alternate_screen
            && self.region.columns().len() == usize::from(self.screen.size.columns())
        {
            self.keep(usize::from(count.min(self.region.bottom + 1)));
        }
        self.scroll_up(self.region.top, count);
    }

    /// Copies the first `count` rows to the scrollback.
    fn keep(&mut self, count: usize) {
        if let Some(scrollback) = &mut self.scrollback {
            for row in &self.screen.rows[..count] {
                self.effort.copy_row(row);
                scrollback.push(row);
            }
        }
    }

    /// Copies the primary screen to the scrollback if ED (`what`) will clear all of it. So the shell's key that clears
    /// the screen loses no text, as in tmux.
    pub(crate) fn keep_before_clearing(&mut self, what: u16) {
        let is_home = self.screen.cursor.position() == Position { row: 0, column: 0 };
        let clears_all = what == 2 || what == 0 && is_home;
        if let Some(scrollback) = &mut self.scrollback
            && clears_all
            && !self.screen.rich.alternate_screen
            && !self.protection.spares(Erasing::Plain)
        {
            let (looked_at, added) = scrollback.push_screen(&self.screen.rows);
            self.screen.rows[..added].iter().for_each(|row| self.effort.copy_row(row));
            self.effort.touch(looked_at * usize::from(self.screen.size.columns()));
        }
    }

    /// Moves rows from `top` to the bottom margin up by `count`, between the side margins. Empty rows fill the space.
    pub(crate) fn scroll_up(&mut self, top: u16, count: u16) {
        if !self.has_full_width() {
            return self.scroll_columns_up(top, count);
        }
        debug_assert!(top <= self.region.bottom, "a scroll begins within the margins");
        let region = usize::from(top)..=usize::from(self.region.bottom);
        let moved = usize::from(self.region.bottom - top + 1);
        let count = usize::from(count).min(moved);
        self.effort.move_rows(moved);
        if count == 1 {
            self.screen.rows[region].rotate_left(1);
            self.clear_row(self.region.bottom);
        } else {
            let blank = self.blank_row();
            let rows = &mut self.screen.rows[region];
            rows.rotate_left(count);
            rows[moved - count..].fill(blank);
        }
    }

    /// Moves rows from `top` to the bottom margin down by `count`, between the side margins. Empty rows fill the space.
    pub(crate) fn scroll_down(&mut self, top: u16, count: u16) {
        if !self.has_full_width() {
            return self.scroll_columns_down(top, count);
        }
        debug_assert!(top <= self.region.bottom, "a scroll begins within the margins");
        let blank = self.blank_row();
        let range = usize::from(top)..=usize::from(self.region.bottom);
        self.effort.move_rows(range.clone().count());
        let rows = &mut self.screen.rows[range];
        let count = usize::from(count).min(rows.len());
        rows.rotate_right(count);
        rows[..count].fill(blank);
    }

    /// Moves rows up as [`Self::scroll_up`] does, but only the columns between the side margins.
    pub(crate) fn scroll_columns_up(&mut self, top: u16, count: u16) {
        for row in top..=self.region.bottom {
            self.replace_columns(row, row.checked_add(count));
        }
    }

    /// Moves rows down as [`Self::scroll_down`] does, but only the columns between the side margins.
    pub(crate) fn scroll_columns_down(&mut self, top: u16, count: u16) {
        for row in (top..=self.region.bottom).rev() {
            self.replace_columns(row, row.checked_sub(count).filter(|&from| from >= top));
        }
    }

    /// Replaces the columns between the side margins in `row` by those of row `from`. If `from` is `None` or below the
    /// bottom margin, empty cells replace them.
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

    /// Copies the cells of `columns` in row `from` to `row`, starting at `column`.
    pub(crate) fn copy_cells(&mut self, from: &Row, columns: Range<u16>, row: u16, column: u16) {
        debug_assert!(usize::from(column) + columns.len() <= usize::from(self.columns()));
        self.effort.touch(columns.len());
        self.effort.copy_beside(from);
        self.effort.copy_beside(&self.screen.rows[usize::from(row)]);
        let link_bytes_max = self.row_link_bytes_max();
        self.row_mut(row).copy_columns(from, columns, column, link_bytes_max);
    }

    /// Clears a row, which gets the current background colour. Reuses the row's memory if no snapshot shares it,
    /// because programs mostly write to cleared rows next.
    pub(crate) fn clear_row(&mut self, row: u16) {
        let (row, columns) = (usize::from(row), self.columns());
        if self.screen.rows[row].is_erased(0..columns, self.screen.pen) {
            return;
        }
        self.effort.touch(usize::from(columns));
        self.effort.copy_beside(&self.screen.rows[row]);
        self.refresh_blank();
        let slot = &mut self.screen.rows[row];
        match Arc::get_mut(slot) {
            Some(row) => row.copy_blank(&self.blank),
            None => *slot = Arc::clone(&self.blank),
        }
    }

    /// Sets the top and bottom margins, counted from 1, and moves the cursor home (DECSTBM). A `bottom` of 0 is the
    /// last row. Does nothing unless `top` is less than `bottom`.
    pub(crate) fn set_margins(&mut self, top: u16, bottom: u16) {
        let rows = self.screen.size.rows();
        let bottom = if bottom == 0 { rows } else { bottom.min(rows) };
        if top < bottom {
            self.region = Region { top: top - 1, bottom: bottom - 1, ..self.region };
            self.move_to(0, 0);
        }
    }

    /// Enables side margins, or removes them (mode 69, DECLRMM).
    pub(crate) const fn set_side_margin_mode(&mut self, set: bool) {
        self.modes.side_margins = set;
        if !set {
            let Region { left, right, .. } = Region::full(self.screen.size);
            self.region.left = left;
            self.region.right = right;
        }
    }

    /// Sets the left and right margins, counted from 1, and moves the cursor home (DECSLRM). A `right` of 0 is the last
    /// column. Does nothing unless `left` is less than `right`.
    pub(crate) fn set_side_margins(&mut self, left: u16, right: u16) {
        let columns = self.columns();
        let right = if right == 0 { columns } else { right.min(columns) };
        if left < right {
            self.region.left = left - 1;
            self.region.right = right - 1;
            self.move_to(0, 0);
        }
    }

    /// Changes the size of the screen, and drops the first `above` rows. On the primary screen, these rows enter the
    /// scrollback.
    pub(crate) fn resize(&mut self, size: Size, above: u16) {
        let cursor = self.screen.cursor;
        debug_assert!(above <= cursor.row, "the cursor's row stays");
        if !self.screen.rich.alternate_screen {
            self.keep(usize::from(above));
        }
        resize_rows(&mut self.screen.rows, size, above, self.screen.pen.erased());
        self.screen.size = size;
        self.region = Region::full(size);
        self.tabs.resize(size.columns());
        let pending_wrap = self.pending_wrap && cursor.column + 1 >= size.columns();
        let target = self.combining_target;
        // A wider screen has room after the last character, so a pending wrap ends.
        let column = cursor.column + u16::from(self.pending_wrap && !pending_wrap);
        self.set_cursor(cursor.row - above, column);
        self.pending_wrap = pending_wrap;
        self.combining_target = target.and_then(|mut target| {
            target.row = target.row.checked_sub(above)?;
            (target.row < size.rows() && target.column < size.columns()).then_some(target)
        });
    }

    /// Panics if the margins, the combining target or the screen are invalid.
    pub(crate) fn assert_integrity(&self) {
        assert!(self.region.top <= self.region.bottom);
        assert!(self.region.bottom < self.screen.size.rows());
        assert!(self.region.left <= self.region.right && self.region.right < self.columns());
        let is_inside =
            |at: Position| at.row < self.screen.size.rows() && at.column < self.columns();
        assert!(self.combining_target.is_none_or(is_inside));
        assert!(self.blank.cells.iter().all(|cell| cell.is_blank()));
        if self.is_host() {
            self.screen.assert_integrity();
        }
    }
}
