//! Drawing on a copy of the screen: what a client shows over the far end's picture.
//!
//! Nothing here is terminal behaviour: no wrap, no scroll, no pen. An overlay names a place and what
//! stands there.

use std::sync::Arc;

use crate::screen::cell::{Cell, Pen};
use crate::screen::cursor::Cursor;
use crate::screen::row::Row;
use crate::screen::{Position, Screen, Size};

impl Screen {
    /// Replaces one cell; outside the screen it does nothing. Halves of wide characters beside it
    /// are the caller's business.
    pub fn put(&mut self, at: Position, cell: Cell) {
        let Some(row) = self.rows.get_mut(usize::from(at.row)) else { return };
        if at.column < self.size.columns() {
            let row = Arc::make_mut(row);
            row.cells[usize::from(at.column)] = cell;
            row.marks.clear(at.column..at.column + 1);
            row.decorations.clear(at.column..at.column + 1);
        }
    }

    /// Replaces a whole row by empty cells; below the screen it does nothing.
    pub fn clear_row(&mut self, row: u16, pen: Pen) {
        if let Some(row) = self.rows.get_mut(usize::from(row)) {
            *row = Arc::new(Row::erased(self.size.columns(), pen));
        }
    }

    /// Shows or hides the cursor.
    pub fn show_cursor(&mut self, visible: bool) {
        self.cursor.visible = visible;
    }

    /// Returns the picture as it looks through a window of another size: cut, or with empty space
    /// around, at the bottom and the right.
    #[must_use]
    pub fn clipped(&self, size: Size) -> Self {
        let mut clipped = self.clone();
        if size == self.size {
            return clipped;
        }
        let blank = Arc::new(Row::erased(size.columns(), Pen::default()));
        clipped.size = size;
        clipped.rows.resize(usize::from(size.rows()), blank);
        if size.columns() != self.size.columns() {
            for row in clipped.rows.iter_mut().take(self.rows.len()) {
                *row = Arc::new(row.resized(size.columns(), Pen::default()));
            }
        }
        let Cursor { row, column, visible } = self.cursor;
        clipped.cursor = Cursor {
            row: row.min(size.rows() - 1),
            column: column.min(size.columns() - 1),
            visible,
        };
        clipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(columns: u16, rows: u16) -> Size {
        Size::new(columns, rows).unwrap()
    }

    fn letter(base: char) -> Cell {
        Cell { base: Some(base), ..Cell::default() }
    }

    fn texts(screen: &Screen) -> Vec<String> {
        let row = |row| {
            let cells = screen.row(row).unwrap().cells().iter();
            cells.map(|cell| cell.base.unwrap_or('.')).collect()
        };
        (0..screen.size().rows()).map(row).collect()
    }

    #[test]
    fn an_overlay_changes_its_copy_only_and_never_outside_the_screen() {
        let below = Screen::blank(size(3, 2));
        let mut frame = below.clone();
        for (row, column) in [(0, 0), (1, 2), (2, 0), (0, 3)] {
            frame.put(Position { row, column }, letter('x'));
        }
        frame.clear_row(9, Pen::default());
        assert_eq!(texts(&frame), ["x..", "..x"]);
        assert_eq!(texts(&below), ["...", "..."]);
        frame.clear_row(1, Pen::default());
        assert_eq!(texts(&frame), ["x..", "..."]);
    }

    #[test]
    fn a_window_of_another_size_shows_the_upper_left_part() {
        let mut screen = Screen::blank(size(3, 2));
        screen.put(Position { row: 0, column: 0 }, letter('a'));
        screen.put(Position { row: 1, column: 1 }, Cell { wide: true, ..letter('広') });
        screen.cursor = Cursor { row: 1, column: 2, visible: true };
        for (columns, rows, picture, cursor) in [
            (3, 2, vec!["a..", ".広."], (1, 2)),
            (4, 3, vec!["a...", ".広..", "...."], (1, 2)),
            (2, 2, vec!["a.", ".."], (1, 1)),
            (1, 1, vec!["a"], (0, 0)),
        ] {
            let clipped = screen.clipped(size(columns, rows));
            assert_eq!(texts(&clipped), picture);
            assert_eq!((clipped.cursor().row, clipped.cursor().column), cursor);
        }
    }
}
