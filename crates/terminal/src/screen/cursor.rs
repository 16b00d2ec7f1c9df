//! The cursor: the position of the next character.

use crate::screen::Position;

/// The position and visibility of a screen's cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Row, from 0.
    pub row: u16,
    /// Column, from 0. It is less than the screen's width even if a wrap is pending.
    pub column: u16,
    /// Whether the cursor is visible (DECTCEM).
    pub visible: bool,
}

impl Cursor {
    /// Returns the cursor's row and column.
    pub const fn position(self) -> Position {
        Position { row: self.row, column: self.column }
    }
}
