//! The surroundings of the cursor on the host's screen: where the input stands, and what is not input.
//!
//! Programs do not say where their prompt ends, how far a field goes or that a tail is only suggested, but
//! people see it, by lines, gaps and colours. So do these functions, each of which reads the screen as the
//! host drew it, without predictions, and none of which remembers anything. What follows from what they
//! find is for those who predict. A cursor outside the screen finds nothing.

mod editor;
mod fingerprint;
mod input;
mod mode_line;
mod pane;
mod rendition;
mod secret;
pub(crate) mod text;
mod title;

pub(crate) use self::editor::{EditorMode, editor_mode, gutter};
pub(crate) use self::fingerprint::{ends_as_shell, fingerprint};
pub(crate) use self::input::{input_end, right_bound, suggestion};
pub(crate) use self::mode_line::mode_line;
pub(crate) use self::pane::{Pane, pane};
pub(crate) use self::rendition::{continued, is_in_word, surrounding, usual, word_pen};
pub(crate) use self::secret::{asks_for_secret, is_mask, mentions_secret};
pub(crate) use self::title::is_titled;

use rove_terminal::{Attributes, Cell, Color, Screen};

/// Returns the cells of a row; none outside the screen.
fn cells(screen: &Screen, row: u16) -> &[Cell] {
    screen.row(row).map_or(&[], |row| row.cells())
}

/// Returns the cell at a place, if there is one.
fn cell(screen: &Screen, row: u16, column: u16) -> Option<&Cell> {
    cells(screen, row).get(usize::from(column))
}

/// Returns the character at a place; a space for anything that looks like one.
pub(crate) fn character(cell: &Cell) -> char {
    cell.base.filter(|c| !is_space(*c)).unwrap_or(' ')
}

const fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}')
}

/// Returns whether the right half of a wide character is seen at `column`.
fn is_half(cells: &[Cell], column: usize) -> bool {
    column > 0 && cells.get(column - 1).is_some_and(|left| left.wide)
}

/// Returns whether nothing is seen at `column` but colours. The right half of a wide character is seen.
fn is_blank(cells: &[Cell], column: usize) -> bool {
    let is_empty = |cell: &Cell| character(cell) == ' ' && !cell.combined;
    cells.get(column).is_none_or(|cell| is_empty(cell) && !is_half(cells, column))
}

/// Returns the characters of some cells, one for a wide one.
fn characters(cells: &[Cell]) -> impl Iterator<Item = char> {
    let seen = (0..cells.len()).filter(|column| !is_half(cells, *column));
    seen.map(|column| character(&cells[column]))
}

/// The paint of a blank cell, by which fields, bars and boxes are told from each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Background {
    color: Color,
    is_inverse: bool,
}

impl Background {
    fn of(cell: &Cell) -> Self {
        let pen = cell.pen;
        if pen.attributes.contains(Attributes::INVERSE) {
            Self { color: pen.foreground, is_inverse: true }
        } else {
            Self { color: pen.background, is_inverse: false }
        }
    }

    /// Returns whether it is the terminal's own.
    fn is_default(self) -> bool {
        self == Self::default()
    }
}

/// Returns a column as an index of it, which came from one.
fn to_column(index: usize) -> u16 {
    u16::try_from(index).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests;
