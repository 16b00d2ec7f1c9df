//! Prints a screen as lines of output on a real terminal, from the row of that terminal's cursor on.

use super::brush::Brush;
use super::dialect::Dialect;
use crate::screen::Screen;
use crate::screen::cell::Cell;
use crate::screen::row::Row;

/// Returns bytes that print the screen's rows below each other, as a program prints lines. Omits the blank rows below
/// both the text and the cursor. Leaves the cursor in the first column. The bytes neither move over text nor erase
/// text. They are empty for a blank screen.
///
/// A row that wraps is printed without a line break. If it is as wide as the terminal, the terminal wraps it.
pub(crate) fn lines(screen: &Screen, dialect: Dialect) -> Vec<u8> {
    let mut brush = Brush::new(Vec::new(), &Screen::blank(screen.size()), dialect);
    let cursor = usize::from(screen.cursor.row) + usize::from(screen.cursor.column > 0);
    let is_blank = |row: &Row| row.cells().iter().all(Cell::is_blank);
    let blank = screen.rows.iter().rev().take_while(|row| is_blank(row)).count();
    let end = cursor.max(screen.rows.len() - blank);
    if blank == screen.rows.len() {
        return Vec::new();
    }
    for (at, row) in screen.rows[..end].iter().enumerate() {
        let trimmed = row.trimmed();
        let columns = trimmed.columns();
        let mut column = 0;
        while column < columns {
            let cell = &trimmed.cells()[usize::from(column)];
            match cell.base {
                None if !cell.combined => {
                    brush.paint_with(cell.pen, trimmed.decoration(column));
                    brush.print_spaces(1);
                }
                _ => brush.print(cell, trimmed.marks(column), trimmed.decoration(column)),
            }
            column += cell.width();
        }
        let goes_on = trimmed.wrapped() && columns == screen.size().columns() && at + 1 < end;
        if !goes_on {
            brush.end_line();
        }
    }
    brush.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::{Functions, History, Repertoire};
    use crate::{Position, Size, Terminal};

    const DIALECT: Dialect = Dialect {
        replica: false,
        history: History::Frames,
        functions: Functions::ALL,
        repertoire: Repertoire::FULL,
        clusters: false,
        wide_flags: false,
    };

    fn screen(bytes: &[u8], columns: u16, rows: u16) -> Screen {
        let mut terminal = Terminal::host(Size::clamped(columns, rows));
        terminal.write(bytes);
        terminal.screen().clone()
    }

    #[test]
    fn rows_are_written_down_to_the_last_that_says_something() {
        for (bytes, written) in [
            (&b""[..], ""),
            (b"\r\n\r\n", ""),
            (b"hi\r\n", "hi\r\n"),
            (b"hi", "hi\r\n"),
            (b"a\r\n\r\nb\r\n\r\n", "a\r\n\r\nb\r\n\r\n"),
            (b"\r\nb\x1b[H", "\r\nb\r\n"),
            (b"a  b", "a  b\r\n"),
            ("漢e\u{301}".as_bytes(), "漢e\u{301}\r\n"),
            (b"\x1b[31mred\x1b[m x", "\x1b[31mred\x1b[m x\r\n"),
            (b"\x1b[31mred\r\n", "\x1b[31mred\x1b[m\r\n"),
            // A line that the terminal wrapped is still a single line.
            (b"0123456789abc\r\n", "0123456789abc\r\n"),
            (b"0123456789", "0123456789\r\n"),
        ] {
            let found = lines(&screen(bytes, 10, 6), DIALECT);
            assert_eq!(String::from_utf8_lossy(&found), written, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn lines_look_the_same_wherever_they_begin() {
        let bytes = "\x1b[44mx\x1b[K\r\n\x1b[4:3;58:5:9mu\x1b[m 漢字漢字漢\x1b[7mlong enough to wrap\r\nend\r\n";
        let original = screen(bytes.as_bytes(), 12, 8);
        let mut terminal = Terminal::host(Size::clamped(12, 20));
        terminal.write(b"before\r\n");
        terminal.write(&lines(&original, DIALECT));
        let copy = terminal.screen();
        for row in 0..7 {
            for column in 0..12 {
                let at = |row| Position { row, column };
                // An erased cell looks like a space.
                let look = |screen: &Screen, row| {
                    format!("{:?}", screen.glyph(at(row))).replace("base: None", "base: Some(' ')")
                };
                assert_eq!(look(&original, row), look(copy, row + 1), "{row} {column}");
            }
        }
    }
}
