//! Protected characters: DECSCA and SPA protect them from some kinds of erasing.
//!
//! Each cell stores whether it is protected, but not by which function. As in xterm, the function that last protected
//! characters decides for all cells which kinds of erasing spare them.

use std::ops::Range;

use crate::screen::cell::{Attributes, Cell};

/// The function with which a program last protected characters, since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Protection {
    /// No program has used DECSCA or SPA.
    #[default]
    Off,
    /// DECSCA was used last. Selective erasing spares protected characters.
    Dec,
    /// SPA was used last. All erasing spares protected characters, except DECSERA.
    Iso,
}

/// A family of erasing functions that spare the same protected characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Erasing {
    /// Erasing by ED, EL and ECH.
    Plain,
    /// Selective erasing by DECSED and DECSEL.
    Selective,
    /// Selective erasing of a rectangle by DECSERA.
    SelectiveRectangle,
}

impl Protection {
    /// Returns whether this kind of erasing spares protected characters.
    /// Source: xterm 379 as observed.
    pub(crate) const fn spares(self, erasing: Erasing) -> bool {
        match self {
            Self::Off => false,
            Self::Dec => !matches!(erasing, Erasing::Plain),
            Self::Iso => !matches!(erasing, Erasing::SelectiveRectangle),
        }
    }

    /// Switches protection of printed text on (`how` 1) or off (0 and 2): DECSCA.
    pub(crate) fn protect(&mut self, pen: &mut Attributes, how: u16) {
        *self = Self::Dec;
        if how <= 2 {
            *pen = pen.protected(how == 1);
        }
    }

    /// Switches protection of printed text on (SPA) or off (EPA).
    pub(crate) fn guard(&mut self, pen: &mut Attributes, guarded: bool) {
        if guarded {
            *self = Self::Iso;
        }
        *pen = pen.protected(guarded);
    }
}

/// Returns the first run of unprotected cells in `columns`. Returns an empty range at the end if all cells are
/// protected. Both halves of a wide character are protected like the left half.
pub(crate) fn unprotected_run(cells: &[Cell], columns: Range<u16>) -> Range<u16> {
    let is_protected = |column: u16| {
        let at = usize::from(column);
        let left = at.checked_sub(1).map(|left| cells[left]).filter(|left| left.wide);
        left.unwrap_or(cells[at]).pen.attributes.is_protected()
    };
    let Some(start) = columns.clone().find(|&column| !is_protected(column)) else {
        return columns.end..columns.end;
    };
    let end = (start..columns.end).find(|&column| is_protected(column)).unwrap_or(columns.end);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::cell::Pen;

    fn cells(text: &str) -> Vec<Cell> {
        let mut cells = Vec::new();
        for c in text.chars() {
            let protected = c.is_uppercase() || c == '漢';
            let attributes = Attributes::NONE.protected(protected);
            let pen = Pen { attributes, ..Pen::default() };
            let wide = matches!(c, '漢' | '字');
            cells.push(Cell { base: Some(c), pen, wide, combined: false });
            if wide {
                cells.push(Cell::erased(pen));
            }
        }
        cells
    }

    #[test]
    fn runs_of_unprotected_cells_are_found_one_after_the_other() {
        for (text, columns, run) in [
            ("abcd", 0..4, 0..4),
            ("abCD", 0..4, 0..2),
            ("ABcd", 0..4, 2..4),
            ("ABcD", 0..4, 2..3),
            ("ABcD", 3..4, 4..4),
            ("ABCD", 0..4, 4..4),
            ("abcd", 2..2, 2..2),
            ("漢ab", 0..4, 2..4),
            ("漢ab", 1..4, 2..4),
            ("字AB", 0..4, 0..2),
            ("字AB", 1..4, 1..2),
        ] {
            assert_eq!(unprotected_run(&cells(text), columns.clone()), run, "{text} {columns:?}");
        }
    }

    #[test]
    fn protection_is_nothing_that_can_be_seen() {
        let (plain, protected) = (Attributes::BOLD, Attributes::BOLD.protected(true));
        assert!(protected.is_protected() && !plain.is_protected());
        assert_eq!(plain, protected);
        assert_ne!(protected, Attributes::NONE.protected(true));
        assert!(protected.contains(Attributes::BOLD));
        assert!(
            !Pen { attributes: protected, ..Pen::default() }.erased().attributes.is_protected()
        );
    }
}
