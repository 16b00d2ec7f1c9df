//! A cell with its combining characters and decoration.

use crate::screen::cell::Cell;
use crate::screen::decoration::Decoration;

/// A cell taken out of its row, with everything it needs in another place.
#[derive(Clone, Debug, Default, Eq)]
pub struct Glyph {
    /// The cell. `combined` is set if there are `marks`.
    pub cell: Cell,
    /// Its combining characters.
    pub marks: Box<str>,
    /// Its hyperlink and its underline's colour.
    pub decoration: Decoration,
}

impl Glyph {
    /// Returns whether it looks empty except for its colours: it has no character, a space or a no-break space.
    pub fn is_blank(&self) -> bool {
        matches!(self.cell.base, None | Some(' ' | '\u{a0}')) && self.marks.is_empty()
    }
}

impl PartialEq for Glyph {
    fn eq(&self, other: &Self) -> bool {
        // Nearly all glyphs have no marks. To compare empty texts is a function call, which is slow on some processors.
        let has_marks = !self.marks.is_empty() || !other.marks.is_empty();
        self.cell == other.cell
            && self.decoration == other.decoration
            && (!has_marks || self.marks == other.marks)
    }
}
