//! Where the next character goes.

use crate::screen::Position;

/// The cursor as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Row, from 0.
    pub row: u16,
    /// Column, from 0; stays below the width even when a wrap is pending.
    pub column: u16,
    /// Whether it is shown (DECTCEM).
    pub visible: bool,
}

impl Cursor {
    /// Returns where it is.
    pub const fn position(self) -> Position {
        Position { row: self.row, column: self.column }
    }
}
