//! The cells of a row, as a person sees them.

use rove_terminal::{Attributes, Cell, Color, Screen};

/// Returns the cells of a row. Empty if the row is outside the screen.
pub(super) fn cells(screen: &Screen, row: u16) -> &[Cell] {
    screen.row(row).map_or(&[], |row| row.cells())
}

/// Returns the cell at a position. `None` outside the screen.
pub(super) fn cell(screen: &Screen, row: u16, column: u16) -> Option<&Cell> {
    cells(screen, row).get(usize::from(column))
}

/// Returns the character in a cell, or a space for anything that looks like a space.
pub(crate) fn character(cell: &Cell) -> char {
    cell.base.filter(|c| !is_space(*c)).unwrap_or(' ')
}

pub(super) const fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}')
}

/// Returns whether the cell at `column` is the right half of a wide character.
pub(super) fn is_half(cells: &[Cell], column: usize) -> bool {
    column > 0 && cells.get(column - 1).is_some_and(|left| left.wide)
}

/// Returns whether the cell at `column` shows only colours. The right half of a wide character is not blank.
pub(super) fn is_blank(cells: &[Cell], column: usize) -> bool {
    let is_empty = |cell: &Cell| character(cell) == ' ' && !cell.combined;
    cells.get(column).is_none_or(|cell| is_empty(cell) && !is_half(cells, column))
}

/// Returns the characters of some cells, without repeating wide characters.
pub(super) fn characters(cells: &[Cell]) -> impl Iterator<Item = char> {
    let seen = (0..cells.len()).filter(|column| !is_half(cells, *column));
    seen.map(|column| character(&cells[column]))
}

/// The background that a cell shows. By their background, fields, bars and boxes differ from their surroundings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Background {
    color: Color,
    is_inverse: bool,
}

impl Background {
    pub(super) fn of(cell: &Cell) -> Self {
        let pen = cell.pen;
        if pen.attributes.contains(Attributes::INVERSE) {
            Self { color: pen.foreground, is_inverse: true }
        } else {
            Self { color: pen.background, is_inverse: false }
        }
    }

    /// Returns whether this is the terminal's default background.
    pub(super) fn is_default(self) -> bool {
        self == Self::default()
    }
}

/// Converts an index into a row's cells back to a column.
pub(super) fn to_column(index: usize) -> u16 {
    u16::try_from(index).unwrap_or(u16::MAX)
}
