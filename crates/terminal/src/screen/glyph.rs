//! A cell with its combining characters and decoration.

use crate::screen::cell::Cell;
use crate::screen::decoration::Decoration;

/// A cell outside of its row, with its combining characters and decoration.
#[derive(Clone, Debug, Default, Eq)]
pub struct Glyph {
    /// The cell. Its field `combined` is true if `marks` is not empty.
    pub cell: Cell,
    /// The combining characters of the cell.
    pub marks: Box<str>,
    /// The hyperlink and the underline's colour of the cell.
    pub decoration: Decoration,
}

impl Glyph {
    /// Returns whether the glyph has no marks, and only a space, a no-break space or no character.
    pub fn is_blank(&self) -> bool {
        matches!(self.cell.base, None | Some(' ' | '\u{a0}')) && self.marks.is_empty()
    }
}

impl PartialEq for Glyph {
    fn eq(&self, other: &Self) -> bool {
        // Nearly all glyphs have no marks. Comparing empty texts is a function call, which is slow on some processors.
        let has_marks = !self.marks.is_empty() || !other.marks.is_empty();
        self.cell == other.cell
            && self.decoration == other.decoration
            && (!has_marks || self.marks == other.marks)
    }
}
