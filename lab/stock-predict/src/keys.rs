//! Predicts the effect of each key.

use rove_terminal::{Action, Cell, Glyph, Pen, Position, Screen, char_width};
use rove_units::Instant;

use super::Stock;
use super::cursor::CursorPrediction;
use rove_predict::overlay::Content;

/// The byte that the Backspace key sends.
const DELETE: char = '\u{7f}';

impl Stock {
    /// Predicts the effect of `action` on the frame `shown`, which the user sees.
    pub(crate) fn handle_action(&mut self, now: Instant, shown: &Screen, action: Action) {
        match action {
            Action::Print(c) if char_width(c) == 1 => self.handle_character(now, shown, c),
            Action::Print(_) => {
                self.ensure_cursor(now, shown);
                self.become_tentative();
            }
            Action::Execute(DELETE) => self.handle_backspace(now, shown),
            Action::Execute('\r') => {
                self.become_tentative();
                self.handle_newline(now, shown);
            }
            Action::Csi(b'C') => self.handle_right(now, shown),
            Action::Csi(b'D') => self.handle_left(now, shown),
            Action::Execute(_) | Action::Escape | Action::Csi(_) => self.become_tentative(),
        }
    }

    /// Returns the newest prediction of the cursor. If this epoch has no such prediction, first makes it.
    fn ensure_cursor(&mut self, now: Instant, shown: &Screen) -> &mut CursorPrediction {
        let newest = self.cursors.last();
        if newest.is_none_or(|cursor| cursor.stamp.epoch != self.epoch) {
            let displayed = shown.cursor().position();
            let at = newest.map_or(displayed, |cursor| cursor.at);
            let stamp = self.stamp(now);
            self.cursors.push(CursorPrediction { at, stamp });
        }
        self.cursors.last_mut().expect("there is one by now")
    }

    fn handle_character(&mut self, now: Instant, shown: &Screen, c: char) {
        let at = self.ensure_cursor(now, shown).at;
        let last = self.size.columns() - 1;
        if at.column == last {
            // Programs wrap lines in different ways, so this key's cells are tentative. Its cursor keeps its epoch.
            self.become_tentative();
        }
        let (stamp, overwrites) = (self.stamp(now), self.overwrites);
        let glyph_at = |column| glyph(shown, at.row, column);
        let cells = &mut self.row(at.row).cells;
        for column in (at.column + 1..=last).rev().filter(|_| !overwrites) {
            // Text that moves into the last column is unknown, because it may continue in the next line.
            let left = column - 1;
            let content = (column != last).then(|| {
                let known = cells[usize::from(left)].predicted().cloned();
                known.unwrap_or_else(|| Content { is_unknown: false, glyph: glyph_at(left) })
            });
            cells[usize::from(column)].renew(stamp, &glyph_at(column), content);
        }
        let pen = match at.column.checked_sub(1) {
            None => shown.pen(),
            Some(left) => {
                let known = cells[usize::from(left)].predicted();
                let known = known.filter(|content| !content.is_unknown);
                known.map_or_else(|| glyph_at(left).cell.pen, |content| content.glyph.cell.pen)
            }
        };
        let content = Content { is_unknown: false, glyph: character(c, pen) };
        cells[usize::from(at.column)].renew(stamp, &glyph_at(at.column), Some(content));
        let column = (at.column + 1).min(last);
        self.newest_cursor().move_to(Position { column, ..at }, stamp);
        if at.column == last {
            self.become_tentative();
            self.handle_newline(now, shown);
        }
    }

    fn handle_backspace(&mut self, now: Instant, shown: &Screen) {
        let at = self.ensure_cursor(now, shown).at;
        let Some(column) = at.column.checked_sub(1) else { return };
        let at = Position { column, ..at };
        let (stamp, overwrites, columns) = (self.stamp(now), self.overwrites, self.size.columns());
        self.newest_cursor().move_to(at, stamp);
        let glyph_at = |column| glyph(shown, at.row, column);
        let cells = &mut self.row(at.row).cells;
        if overwrites {
            // Stock has this fault: it reads the cell under the screen's cursor, and not under the predicted cursor.
            let cursor = shown.cursor();
            let under = glyph(shown, cursor.row, cursor.column);
            let content = Content { is_unknown: false, glyph: character(' ', under.cell.pen) };
            cells[usize::from(column)].renew(stamp, &under, Some(content));
            return;
        }
        for column in at.column..columns {
            // Text that moves into the last columns is unknown, because it may come from the next line.
            let right = column + 1;
            let content = (right + 1 < columns).then(|| {
                let known = cells[usize::from(right)].predicted().cloned();
                known.unwrap_or_else(|| Content { is_unknown: false, glyph: glyph_at(right) })
            });
            cells[usize::from(column)].renew(stamp, &glyph_at(column), content);
        }
    }

    /// Moves the cursor to the beginning of the next line. The engine does not predict scrolling: the last row becomes
    /// blank, and the rows above it stay.
    fn handle_newline(&mut self, now: Instant, shown: &Screen) {
        let at = self.ensure_cursor(now, shown).at;
        let (stamp, is_last) = (self.stamp(now), at.row + 1 == self.size.rows());
        let row = if is_last { at.row } else { at.row + 1 };
        self.newest_cursor().move_to(Position { row, column: 0 }, stamp);
        if is_last {
            self.row(row).cells.iter_mut().for_each(|cell| cell.blank(stamp));
        }
    }

    fn handle_right(&mut self, now: Instant, shown: &Screen) {
        let at = self.ensure_cursor(now, shown).at;
        if at.column + 1 < self.size.columns() {
            let stamp = self.stamp(now);
            self.newest_cursor().move_to(Position { column: at.column + 1, ..at }, stamp);
        }
    }

    fn handle_left(&mut self, now: Instant, shown: &Screen) {
        let at = self.ensure_cursor(now, shown).at;
        if let Some(column) = at.column.checked_sub(1) {
            let stamp = self.stamp(now);
            self.newest_cursor().move_to(Position { column, ..at }, stamp);
        }
    }

    fn newest_cursor(&mut self) -> &mut CursorPrediction {
        self.cursors.last_mut().expect("a key that moves the cursor has made sure of one")
    }
}

/// Returns the glyph of a cell in the frame.
fn glyph(shown: &Screen, row: u16, column: u16) -> Glyph {
    shown.glyph(Position { row, column }).expect("predictions are made within the frame")
}

fn character(c: char, pen: Pen) -> Glyph {
    Glyph { cell: Cell { base: Some(c), pen, ..Cell::default() }, ..Glyph::default() }
}
