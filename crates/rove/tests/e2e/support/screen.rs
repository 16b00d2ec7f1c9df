//! The screens that an independent emulator draws, and whether two screens look the same.

use std::num::NonZeroU16;

/// Creates an emulator of this size. The emulator needs at least one cell, so a size of 0 becomes 1.
pub(crate) fn emulator(rows: u16, columns: u16) -> vt100::Parser {
    vt100::Parser::new(cells(rows), cells(columns), 0)
}

/// Returns a number of rows or columns. A `count` of 0 becomes 1.
pub(crate) fn cells(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap_or(NonZeroU16::MIN)
}

/// Returns the screen of an emulator of this size after `bytes`.
pub(crate) fn draw(rows: u16, columns: u16, bytes: &[u8]) -> vt100::Screen {
    let mut parser = emulator(rows, columns);
    parser.process(bytes);
    parser.screen().clone()
}

/// Returns the rows as text, without trailing blanks and trailing blank rows.
pub(crate) fn lines(screen: &vt100::Screen) -> Vec<String> {
    let (_, columns) = screen.size();
    let mut lines: Vec<String> =
        screen.rows(0, columns.get()).map(|row| row.trim_end().to_owned()).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Returns whether two screens look the same: size, characters, attributes and cursor.
pub(crate) fn same_picture(a: &vt100::Screen, b: &vt100::Screen) -> bool {
    first_difference(a, b).is_none()
}

/// Returns the first difference between two screens as text for a failed test.
pub(crate) fn first_difference(a: &vt100::Screen, b: &vt100::Screen) -> Option<String> {
    let frame = |screen: &vt100::Screen| {
        let (rows, columns) = screen.size();
        ((rows.get(), columns.get()), screen.cursor_position(), screen.hide_cursor())
    };
    if frame(a) != frame(b) {
        return Some(format!("size, cursor, hidden: {:?} and {:?}", frame(a), frame(b)));
    }
    let (rows, columns) = a.size();
    let mut cells =
        (0..rows.get()).flat_map(|row| (0..columns.get()).map(move |column| (row, column)));
    let (row, column) =
        cells.find(|&(row, column)| look(a, row, column) != look(b, row, column))?;
    let [a, b] = [a, b].map(|screen| look(screen, row, column));
    Some(format!("row {row}, column {column}: {a:?} and {b:?}"))
}

/// Returns everything that a user sees in a cell. An unwritten cell looks like a space.
fn look(screen: &vt100::Screen, row: u16, column: u16) -> impl PartialEq + std::fmt::Debug {
    screen.cell(row, column).map(|cell| {
        let text = if cell.contents().is_empty() { " " } else { cell.contents() };
        let blank = text == " ";
        (
            text.to_owned(),
            (!blank || cell.inverse()).then(|| cell.fgcolor()),
            cell.bgcolor(),
            [!blank && cell.bold(), !blank && cell.italic(), cell.underline(), cell.inverse()],
        )
    })
}
