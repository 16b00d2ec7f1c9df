//! What stands in one place, with all that lies beside the row's cells.

use crate::screen::cell::Cell;
use crate::screen::decoration::Decoration;

/// A cell taken out of its row: what it needs to stand in another place.
#[derive(Clone, Debug, Default, Eq)]
pub struct Glyph {
    /// The cell. `combined` says that there are `marks`.
    pub cell: Cell,
    /// Its combining characters.
    pub marks: Box<str>,
    /// How it is decorated beside its pen.
    pub decoration: Decoration,
}

impl Glyph {
    /// Returns whether it looks empty, but for its colours: nothing, a space or a no-break space.
    pub fn is_blank(&self) -> bool {
        matches!(self.cell.base, None | Some(' ' | '\u{a0}')) && self.marks.is_empty()
    }
}

impl PartialEq for Glyph {
    fn eq(&self, other: &Self) -> bool {
        // Nearly all have no marks, and to compare empty texts is a call of its own, slow on some processors.
        let has_marks = !self.marks.is_empty() || !other.marks.is_empty();
        self.cell == other.cell
            && self.decoration == other.decoration
            && (!has_marks || self.marks == other.marks)
    }
}
