//! The cursor: the place of the next character.

use crate::screen::Position;

/// The cursor of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Row, from 0.
    pub row: u16,
    /// Column, from 0. It is less than the width even if a wrap is pending.
    pub column: u16,
    /// Whether it is shown (DECTCEM).
    pub visible: bool,
}

impl Cursor {
    /// Returns its place.
    pub const fn position(self) -> Position {
        Position { row: self.row, column: self.column }
    }
}
