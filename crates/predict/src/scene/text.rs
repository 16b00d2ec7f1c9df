//! The text of a screen, cell by cell, in which all blanks are equal.

use rove_terminal::{Cell, Position, Screen};

use super::row::is_space;

/// The text of a cell: a character and its combining characters. All blanks are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text<'a> {
    pub(crate) base: Option<char>,
    /// The combining characters. `None` is compared faster than an empty text.
    marks: Option<&'a str>,
}

impl<'a> Text<'a> {
    /// Creates the text of a character without combining characters.
    pub(crate) fn plain(base: char) -> Self {
        Self { base: Some(base).filter(|c| !is_space(*c)), marks: None }
    }

    /// Returns the text of a cell. Blank outside the screen.
    pub(crate) fn of(screen: &'a Screen, at: Position) -> Self {
        let Some(row) = screen.row(at.row) else { return Self::BLANK };
        let Some(cell) = row.cells().get(usize::from(at.column)) else { return Self::BLANK };
        let marks = cell.combined.then(|| row.marks(at.column));
        Self { base: cell.base.filter(|c| !is_space(*c)), marks }
    }

    /// Returns the character, or a space if blank, and its combining characters.
    pub(crate) fn code_points(self) -> impl Iterator<Item = char> {
        [self.base.unwrap_or(' ')].into_iter().chain(self.marks.unwrap_or_default().chars())
    }

    pub(crate) const BLANK: Self = Self { base: None, marks: None };

    pub(crate) fn is_blank(self) -> bool {
        self == Text::BLANK
    }
}

/// Returns the characters of a row, with a space for each blank.
pub(crate) fn characters(screen: &Screen, row: u16) -> impl Iterator<Item = char> {
    let columns = 0..screen.size().columns();
    columns.map(move |column| Text::of(screen, Position { row, column }).base.unwrap_or(' '))
}

/// Returns whether the text of a row differs between two screens.
pub(crate) fn is_changed(before: &Screen, after: &Screen, row: u16) -> bool {
    let columns = 0..after.size().columns();
    let text = |screen, column| Text::of(screen, Position { row, column });
    !is_same_row(before, after, row)
        && columns.into_iter().any(|column| text(before, column) != text(after, column))
}

/// Returns whether both screens share the row as one object, as successive screens do with most rows. Also true if a
/// screen has no such row.
pub(crate) fn is_same_row(before: &Screen, after: &Screen, row: u16) -> bool {
    match (before.row(row), after.row(row)) {
        (Some(before), Some(after)) => core::ptr::eq(before, after),
        _ => true,
    }
}

/// Returns the cell at a position. Empty outside the screen.
pub(crate) fn cell(screen: &Screen, at: Position) -> Cell {
    let row = screen.row(at.row);
    row.and_then(|row| row.cells().get(usize::from(at.column)).copied()).unwrap_or_default()
}
