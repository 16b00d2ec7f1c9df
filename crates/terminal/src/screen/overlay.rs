//! Draws on a copy of the server's screen. The client displays the copy in place of that screen.
//!
//! These functions replace cells at a position. Unlike a terminal's functions, they do not wrap, scroll or use the pen.

use core::ops::Range;
use std::sync::Arc;

use crate::screen::cell::Pen;
use crate::screen::decoration::ROW_LINK_BYTES_MAX;
use crate::screen::glyph::Glyph;
use crate::screen::row::Row;
use crate::screen::{Position, Screen, Size};

impl Screen {
    /// Returns the glyph at a position. `None` outside of the screen.
    pub fn glyph(&self, at: Position) -> Option<Glyph> {
        let row = self.rows.get(usize::from(at.row))?;
        (at.column < self.size.columns()).then(|| row.glyph(at.column))
    }

    /// Replaces the glyph at a position. Has no effect outside of the screen. Call [`Screen::mend_row`] afterwards,
    /// because this may cut a wide character in half.
    pub fn put(&mut self, at: Position, glyph: &Glyph) {
        let Some(row) = self.rows.get_mut(usize::from(at.row)) else { return };
        if at.column < self.size.columns() {
            Arc::make_mut(row).put(at.column, glyph, ROW_LINK_BYTES_MAX);
        }
    }

    /// Blanks each wide character of a row that has lost its right half.
    pub fn mend_row(&mut self, row: u16) {
        if let Some(row) = self.rows.get_mut(usize::from(row)) {
            Arc::make_mut(row).mend();
        }
    }

    /// Replaces a row by cells erased with `pen`. Has no effect below the screen.
    pub fn clear_row(&mut self, row: u16, pen: Pen) {
        if let Some(row) = self.rows.get_mut(usize::from(row)) {
            *row = Arc::new(Row::erased(self.size.columns(), pen));
        }
    }

    /// Replaces `columns` of a row by those of row `from` on `other`, a screen of the same size. `None`: empty cells
    /// replace them. A wide character that this cuts in half becomes blank.
    pub fn copy_row(&mut self, row: u16, columns: Range<u16>, other: &Self, from: Option<u16>) {
        if columns == (0..self.size.columns()) {
            let Some(row) = self.rows.get_mut(usize::from(row)) else { return };
            let source = from.and_then(|from| other.rows.get(usize::from(from)));
            *row = source.filter(|_| other.size == self.size).map_or_else(
                || Arc::new(Row::erased(self.size.columns(), Pen::default())),
                Arc::clone,
            );
            return;
        }
        for column in columns {
            let source = from.and_then(|from| other.glyph(Position { row: from, column }));
            self.put(Position { row, column }, &source.unwrap_or_default());
        }
        self.mend_row(row);
    }

    /// Moves the cursor to a position, or to the nearest position on the screen.
    pub fn place_cursor(&mut self, at: Position) {
        self.cursor.row = at.row.min(self.size.rows() - 1);
        self.cursor.column = at.column.min(self.size.columns() - 1);
    }

    /// Makes the cursor visible or invisible.
    pub fn show_cursor(&mut self, visible: bool) {
        self.cursor.visible = visible;
    }

    /// Returns the screen with another size: rows and columns are cut, or added empty, at the bottom and the right. If
    /// the cursor would be cut, the rows are cut at the top, and end at the cursor.
    #[must_use]
    pub fn clipped(&self, size: Size) -> Self {
        let mut clipped = self.clone();
        if size == self.size {
            return clipped;
        }
        let top = (self.cursor.row + 1).saturating_sub(size.rows());
        clipped.rows.drain(..usize::from(top));
        clipped.cursor.row -= top;
        let kept = clipped.rows.len();
        let blank = Arc::new(Row::erased(size.columns(), Pen::default()));
        clipped.size = size;
        clipped.rows.resize(usize::from(size.rows()), blank);
        if size.columns() != self.size.columns() {
            for row in clipped.rows.iter_mut().take(kept) {
                *row = Arc::new(row.resized(size.columns(), Pen::default()));
            }
        }
        clipped.place_cursor(clipped.cursor.position());
        debug_assert!(clipped.cursor.row < size.rows(), "the cursor is seen");
        clipped
    }
}

impl Screen {
    /// Returns the part of the screen that a smaller window displays. A larger window changes nothing.
    #[must_use]
    pub fn seen_through(&self, window: Size) -> Self {
        let columns = window.columns().min(self.size.columns());
        self.clipped(Size::clamped(columns, window.rows().min(self.size.rows())))
    }

    /// Removes the first `bells` bells, and the copied text unless `keeps_copied`, so that a client does not get them.
    pub fn forget_events(&mut self, bells: u64, keeps_copied: bool) {
        self.bells = self.bells.saturating_sub(bells);
        if !keeps_copied {
            self.clipboard = Arc::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::cell::Cell;
    use crate::screen::cursor::Cursor;
    use crate::terminal::Terminal;

    fn size(columns: u16, rows: u16) -> Size {
        Size::new(columns, rows).unwrap()
    }

    fn letter(base: char) -> Glyph {
        Glyph { cell: Cell { base: Some(base), ..Cell::default() }, ..Glyph::default() }
    }

    fn texts(screen: &Screen) -> Vec<String> {
        let row = |row| {
            let cells = screen.row(row).unwrap().cells().iter();
            cells.map(|cell| cell.base.unwrap_or('.')).collect()
        };
        (0..screen.size().rows()).map(row).collect()
    }

    #[test]
    fn a_small_window_shows_the_cursors_rows_and_a_large_one_changes_nothing() {
        let mut terminal = Terminal::host(size(4, 4));
        terminal.write(b"abcd\r\nefgh\r\nijkl\r\nm");
        let seen = terminal.screen().seen_through(size(3, 2));
        assert_eq!(texts(&seen), ["ijk", "m.."]);
        assert_eq!((seen.cursor().row, seen.cursor().column), (1, 1));
        assert_eq!(&terminal.screen().seen_through(size(9, 9)), terminal.screen());
        terminal.write(b"\x1b[1;4H");
        assert_eq!(texts(&terminal.screen().seen_through(size(3, 2))), ["abc", "efg"]);
    }

    #[test]
    fn an_overlay_changes_its_copy_only_and_never_outside_the_screen() {
        let below = Screen::blank(size(3, 2));
        let mut frame = below.clone();
        for (row, column) in [(0, 0), (1, 2), (2, 0), (0, 3)] {
            frame.put(Position { row, column }, &letter('x'));
        }
        frame.clear_row(9, Pen::default());
        assert_eq!(texts(&frame), ["x..", "..x"]);
        assert_eq!(texts(&below), ["...", "..."]);
        frame.clear_row(1, Pen::default());
        assert_eq!(texts(&frame), ["x..", "..."]);
    }

    #[test]
    fn a_row_is_copied_whole_or_in_part_or_left_empty() {
        let mut terminal = Terminal::host(size(3, 2));
        terminal.write(b"abc\r\ndef");
        let below = terminal.snapshot();
        for (columns, from, text) in [
            (0..3, Some(1), "def"),
            (1..3, Some(1), "aef"),
            (0..3, None, "..."),
            (0..2, None, "..c"),
            (0..3, Some(2), "..."),
        ] {
            let mut frame = below.clone();
            frame.copy_row(0, columns.clone(), &below, from);
            frame.copy_row(7, columns, &below, from);
            frame.assert_integrity();
            assert_eq!(texts(&frame), [text, "def"]);
        }
    }

    #[test]
    fn a_window_of_another_size_shows_the_left_part_down_to_the_cursor() {
        let mut screen = Screen::blank(size(3, 2));
        screen.put(Position { row: 0, column: 0 }, &letter('a'));
        let wide = Cell { wide: true, ..letter('広').cell };
        screen.put(Position { row: 1, column: 1 }, &Glyph { cell: wide, ..Glyph::default() });
        screen.cursor = Cursor { row: 1, column: 2, visible: true };
        for (columns, rows, picture, cursor) in [
            (3, 2, vec!["a..", ".広."], (1, 2)),
            (4, 3, vec!["a...", ".広..", "...."], (1, 2)),
            (2, 2, vec!["a.", ".."], (1, 1)),
            (1, 1, vec!["."], (0, 0)),
        ] {
            let clipped = screen.clipped(size(columns, rows));
            assert_eq!(texts(&clipped), picture);
            assert_eq!((clipped.cursor().row, clipped.cursor().column), cursor);
        }
    }

    #[test]
    fn a_glyph_takes_its_marks_and_decoration_along() {
        let mut terminal = Terminal::host(size(4, 1));
        terminal.write(b"\x1b]8;;https://example.org/\x1b\\e\xcc\x81\x1b]8;;\x1b\\x");
        let below = terminal.snapshot();
        let mut frame = below.clone();
        let (from, to) = (Position { row: 0, column: 0 }, Position { row: 0, column: 1 });
        let glyph = below.glyph(from).unwrap();
        assert!(glyph.decoration.link.is_some() && !glyph.is_blank());
        frame.put(to, &glyph);
        frame.mend_row(0);
        frame.assert_integrity();
        assert_eq!((frame.glyph(to), frame.row_text(0)), (Some(glyph), "e\u{301}e\u{301}".into()));
        frame.put(from, &letter('y'));
        frame.assert_integrity();
        assert_eq!(frame.row_text(0), "ye\u{301}");
        assert_eq!(frame.glyph(Position { row: 0, column: 4 }), None);
    }

    #[test]
    fn half_a_wide_character_is_mended() {
        let mut terminal = Terminal::host(size(6, 1));
        terminal.write("一二三".as_bytes());
        let below = terminal.snapshot();
        let wide = below.glyph(Position { row: 0, column: 0 }).unwrap();
        for (column, glyph, text) in [
            (0, letter('x'), "x 二三"),
            (1, letter('x'), " x二三"),
            (3, wide.clone(), "一  三"),
            (5, wide, "一二"),
        ] {
            let mut frame = below.clone();
            frame.put(Position { row: 0, column }, &glyph);
            frame.mend_row(0);
            frame.assert_integrity();
            assert_eq!(frame.row_text(0), text, "{column}");
        }
    }
}
