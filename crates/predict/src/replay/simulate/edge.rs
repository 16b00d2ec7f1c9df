//! The right edge of a row, after which the input of a line editor continues in the next row.

use rove_terminal::Position;

use crate::replay::field::Kind;
use crate::replay::layout::{Crossing, Layout};
use crate::replay::simulate::Simulation;

/// Number of columns at the right edge in which characters wait for their echo. They wait while it is unknown how input
/// continues in the next row. Chosen: mksh scrolls the row when the third last column is filled, and other programs one
/// or two keys later. Five right keys wait for each wrong key that this prevents.
const EDGE_COLUMNS: u16 = 3;

impl Simulation<'_> {
    /// Makes room for a character of `width` columns at `column`, with which the text ends at `end`. Adds a row if
    /// needed. Returns false if there is no room, or if that is unknown.
    pub(super) fn makes_room(&mut self, column: u16, end: u16, width: u16) -> bool {
        if !self.bounds.layout.parts(column, end) && !self.waits() {
            // When text reaches the last column, some programs draw a mark there instead.
            return self.kind != Kind::Full || self.bounds.is_bounded || end < self.bounds.right;
        }
        // A wide character that does not fit leaves a blank, and all later text moves.
        if width > 1 || self.text().has_wide(column) || !self.may_cross() {
            return false;
        }
        let [before, after] = [self.bounds.end, end].map(|end| self.last_row(end));
        let has_room = after == before || self.adds_row(after);
        self.crosses |= has_room;
        has_room
    }

    /// Returns whether `width` columns at `from` can be erased, even if text from the next row then fills the gap.
    pub(super) fn may_pull_back(&mut self, from: u16, width: u16) -> bool {
        // Programs differ in where the cursor goes when the input's last row becomes empty.
        let leaves_row = from + width == self.bounds.end
            && self.bounds.layout.parts(from.saturating_sub(1), from);
        if !self.bounds.layout.parts(from, self.bounds.end) && !leaves_row {
            return true;
        }
        let is_followed = !self.text().has_wide(from) && self.may_go_back();
        self.crosses |= is_followed;
        is_followed
    }

    /// Returns whether the cursor is so near the right edge that the program may scroll the row sideways. The program
    /// may do so if it is unknown how input continues in the next row.
    pub(in crate::replay) fn is_near_edge(&self) -> bool {
        let is_line = matches!(self.kind, Kind::Line | Kind::Unknown);
        let is_at_end =
            self.canvas.cursor.column.saturating_add(EDGE_COLUMNS) >= self.bounds.pane.right;
        is_at_end && is_line && !self.habits.goes_on && !self.bounds.is_bounded
    }

    /// Returns whether the cursor and the text may be predicted in the next row.
    fn may_cross(&self) -> bool {
        let is_line = matches!(self.kind, Kind::Line | Kind::Unknown);
        self.habits.goes_on && (is_line || self.kind == Kind::Full && self.bounds.is_last)
    }

    /// Returns whether the cursor may be predicted to go back to the row above. False if only the terminal wraps lines.
    pub(super) fn may_go_back(&self) -> bool {
        self.may_cross() && !self.habits.is_lazy
    }

    /// Returns whether the cursor is on a full row's last character, either waiting there or moved there by a key.
    pub(super) fn may_wait(&self) -> bool {
        self.habits.is_lazy
            && self.canvas.cursor.column == self.bounds.layout.edge.saturating_sub(1)
            && self.bounds.layout.parts(self.bounds.end.saturating_sub(1), self.bounds.end)
    }

    /// Returns whether the cursor waits on the last character of a full row.
    pub(in crate::replay) fn waits(&self) -> bool {
        let column = self.column();
        self.shown_at(column) != self.at(column)
    }

    /// Returns the position at which the screen shows a cursor at an input column.
    pub(super) fn shown_at(&self, column: u16) -> Position {
        let at = self.at(column);
        let is_behind = at.row > self.bounds.layout.row && at.column == self.bounds.layout.left;
        let last = self.bounds.layout.edge.saturating_sub(1);
        let waits = self.habits.is_lazy && column == self.bounds.end && is_behind;
        if waits { Position { row: at.row - 1, column: last } } else { at }
    }

    fn last_row(&self, end: u16) -> u16 {
        self.bounds.layout.row_of(end.saturating_sub(self.habits.is_lazy.into()))
    }

    /// Returns the facts about the next row that are proven if a screen agrees with this simulation.
    pub(in crate::replay) fn crossing(&self) -> Crossing {
        let (column, Layout { row, left, .. }) = (self.column(), self.bounds.layout);
        let at = self.at(column);
        // If the text ends with a full row, only a cursor in the next row proves how the program continues.
        let is_telling = column < self.bounds.end || at.row > row && at.column == left;
        let is_proof = self.crosses && is_telling;
        Crossing { is_proof, has_scrolled: self.has_scrolled, is_lazy: self.habits.is_lazy }
    }

    /// Adds the empty row `row`, below the input, to the input. Returns false if the result is unknown.
    fn adds_row(&mut self, row: u16) -> bool {
        let rows = self.rows();
        if row < rows.end {
            return self.bounds.is_last;
        }
        let may_scroll = self.habits.scrolls && self.bounds.layout.row > rows.start;
        if may_scroll {
            self.canvas.scroll_up(rows);
            self.bounds.layout.row -= 1;
            self.has_scrolled = true;
        }
        may_scroll
    }
}
