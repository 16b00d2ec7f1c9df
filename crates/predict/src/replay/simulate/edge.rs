//! The edge of a row, where the input goes on in the row below.

use rove_terminal::{Pen, Position};

use crate::replay::canvas::Tile;
use crate::replay::field::Kind;
use crate::replay::layout::{Beyond, Proof, Wrap};
use crate::replay::simulate::Simulation;

impl Simulation<'_> {
    /// Makes room for the text from `column` on to end at `end`, where a character of `width` is typed at
    /// `column`: adds a row where it needs one. Returns whether there is room.
    pub(super) fn makes_room(&mut self, column: u16, end: u16, width: u16) -> bool {
        let (first, old_end) = (self.column(), self.end);
        if !self.layout.parts(column, end) && !self.waits() {
            return true;
        }
        // A wide character that does not fit leaves a blank behind, and all that follows moves.
        if !self.goes_to(column.saturating_add(width), end) || width > 1 || self.has_wide(column) {
            return false;
        }
        let cursor = first.saturating_add(width);
        let before = self.last_row(old_end, first);
        let after = self.last_row(end, cursor);
        if after > before && !self.adds_row(before.saturating_add(1)) {
            return false;
        }
        self.crosses = true;
        self.draw_edges(column, end);
        true
    }

    /// Returns whether the cursor stands on the last character of a full row, or may wait behind it: nothing is
    /// seen of the difference.
    pub(super) fn may_wait(&self) -> bool {
        let is_unmarked = self.habits.wrap.is_some_and(|wrap| wrap.is_lazy && wrap.mark.is_none());
        let edge = self.layout.edge.saturating_sub(1);
        is_unmarked
            && self.canvas.cursor.column == edge
            && self.layout.parts(self.end.saturating_sub(1), self.end)
    }

    /// Returns whether text can be taken out, where what follows it moves up from the row below.
    pub(super) fn may_pull_back(&mut self, from: u16, width: u16) -> bool {
        let end = self.end.saturating_sub(width);
        let leaves_row = self.last_row(end, from) != self.last_row(self.end, self.column());
        // Where a row is left empty, or only full, programs differ.
        let leaves_edge = from == end && self.layout.parts(from.saturating_sub(1), from);
        if !self.layout.parts(from, self.end) && !leaves_row && !leaves_edge {
            return true;
        }
        // An editor fills the row that is left empty with what nobody has seen.
        let keeps_rows = self.is_line() || !leaves_row;
        let is_followed = self.follows_back(from, end) && keeps_rows && !self.has_wide(from);
        self.crosses |= is_followed;
        if is_followed {
            self.clear_edges(from, end);
        }
        is_followed
    }

    /// Returns whether the cursor can go to a place in another row.
    pub(super) fn may_cross(&mut self, column: u16) -> bool {
        let keeps_rows = self.is_line()
            || self.last_row(self.end, column) == self.last_row(self.end, self.column());
        let is_followed = self.follows_back(column, self.end) && keeps_rows;
        self.crosses |= is_followed;
        is_followed
    }

    /// Returns what a screen proves that shows this.
    pub(in crate::replay) fn proof(&self) -> Proof {
        let is_lazy = self.habits.wrap.is_some_and(|wrap| wrap.is_lazy);
        let column = self.column();
        let at = self.at(column);
        // Behind a full row programs differ in where the cursor is, and nowhere else.
        let is_telling =
            column == self.end && at.row > self.layout.row && at.column == self.layout.left;
        let has_end = self.crosses && if is_lazy { self.has_waited } else { is_telling };
        let has_text = has_end || self.crosses && column < self.end;
        Proof { has_text, has_end, has_scrolled: self.has_scrolled }
    }

    /// Returns where the cursor is seen that is at a place.
    pub(super) fn shown_at(&self, column: u16) -> Position {
        let at = self.layout.at(column);
        let waits = self.habits.wrap.is_some_and(|wrap| wrap.is_lazy)
            && column == self.end
            && at.row > self.layout.row
            && at.column == self.layout.left;
        if !waits {
            return at;
        }
        let has_mark = self.habits.wrap.is_some_and(|wrap| wrap.mark.is_some());
        let column = self.layout.edge.saturating_sub(u16::from(!has_mark));
        Position { row: at.row - 1, column }
    }

    /// Returns the last row of an input with this end and the cursor in this place.
    fn last_row(&self, end: u16, cursor: u16) -> u16 {
        let is_lazy = self.habits.wrap.is_some_and(|wrap| wrap.is_lazy);
        if self.is_line() && !is_lazy {
            return self.layout.row_of(end);
        }
        let cursor = if is_lazy && cursor == end { cursor.saturating_sub(1) } else { cursor };
        self.layout.row_of(end.saturating_sub(1)).max(self.layout.row_of(cursor))
    }

    /// Makes an empty row below the input that is part of it. Returns whether that can be told.
    fn adds_row(&mut self, row: u16) -> bool {
        let is_below = row >= self.rows.end;
        if is_below && self.is_line() {
            let may_scroll = self.habits.scrolls && self.layout.row > self.rows.start;
            if may_scroll {
                self.canvas.scroll_up(self.rows.clone());
                self.layout.row -= 1;
                self.has_scrolled = true;
            }
            return may_scroll;
        }
        let may_insert = !is_below && !self.is_last && !self.is_line();
        if may_insert {
            self.canvas.insert_row(row..self.rows.end);
        }
        may_insert || !is_below && self.is_last
    }

    /// Draws what stands beside the text in the rows that it goes over.
    fn draw_edges(&mut self, column: u16, end: u16) {
        let Some(wrap) = self.habits.wrap else { return };
        let last = end.saturating_sub(1);
        let first = self.shown_at(column).row;
        for row in first..self.layout.row_of(last) {
            if let Some(mark) = wrap.mark {
                let tile = Tile::Typed { base: mark, wide: false, pen: Pen::default() };
                self.canvas.put(Position { row, column: self.layout.edge }, tile);
            }
        }
        for row in first + 1..=self.layout.row_of(end) {
            for lead in 0..wrap.lead.columns {
                let tile = match wrap.lead.cells.get(usize::from(lead)) {
                    Some(cell) => match cell.base {
                        Some(base) => Tile::Typed { base, wide: cell.wide, pen: cell.pen },
                        None => Tile::Blank(cell.pen),
                    },
                    None => Tile::Veiled(Pen::default()),
                };
                self.canvas.put(Position { row, column: self.columns.start + lead }, tile);
            }
        }
    }

    /// Blanks what stands beside the text in the rows that an end at `end`, and the cursor at `cursor`, leave.
    fn clear_edges(&mut self, cursor: u16, end: u16) {
        let Some(wrap) = self.habits.wrap else { return };
        let last = |end: u16| self.layout.row_of(end.saturating_sub(1));
        let marks = last(end)..last(self.end);
        let leads = self.last_row(end, cursor)..self.last_row(self.end, self.column());
        for row in marks.filter(|_| wrap.mark.is_some()) {
            let at = Position { row, column: self.layout.edge };
            self.canvas.put(at, Tile::Blank(Pen::default()));
        }
        for row in leads {
            for column in self.columns.start..self.layout.left {
                self.canvas.put(Position { row: row + 1, column }, Tile::Blank(Pen::default()));
            }
        }
    }

    fn has_wide(&self, column: u16) -> bool {
        (column..self.end).any(|column| self.canvas.is_wide(self.at(column)))
    }

    /// Returns whether it is known what goes back over the edge. Where the terminal alone goes on nothing does.
    fn follows_back(&self, column: u16, end: u16) -> bool {
        let is_known = |wrap: &Wrap| !wrap.is_lazy || wrap.mark.is_some();
        self.goes_to(column, end) && self.habits.wrap.is_none_or(is_known)
    }

    /// Returns whether keys are followed over the edge that put the cursor in this place of a text with this
    /// end.
    fn goes_to(&self, column: u16, end: u16) -> bool {
        match self.habits.beyond {
            Beyond::Nothing => false,
            Beyond::Text => column < end,
            Beyond::All => true,
        }
    }

    /// Returns whether a line is typed rather than a text.
    fn is_line(&self) -> bool {
        matches!(self.kind, Kind::Line | Kind::Unknown) || self.kind == Kind::Full && self.is_last
    }
}
