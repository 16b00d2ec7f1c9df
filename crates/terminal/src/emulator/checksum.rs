//! DECRQCRA: a checksum of what a rectangle of the screen shows.
//!
//! With a rectangle of one cell it reads the screen back, which is why the user has to allow it.

use crate::screen::cell::{Attributes, Cell, Underline};

/// Options of the checksum, set by XTCHECKSUM. Source: xterm's ctlseqs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChecksumExtension(u16);

impl ChecksumExtension {
    /// Creates it from the parameter of XTCHECKSUM.
    pub(crate) const fn new(bits: u16) -> Self {
        Self(bits)
    }

    const fn has(self, bit: u16) -> bool {
        self.0 >> bit & 1 == 1
    }

    const fn is_negated(self) -> bool {
        !self.has(0)
    }

    const fn counts_attributes(self) -> bool {
        !self.has(1)
    }

    /// Whether cells that nothing was written to count as spaces.
    const fn counts_empty(self) -> bool {
        self.has(2) && !self.has(3)
    }

    const fn counts_all_bits(self) -> bool {
        self.has(4)
    }
}

/// The sum so far of a rectangle's cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checksum {
    extension: ChecksumExtension,
    sum: u16,
    /// The first cell counts as a space if nothing was written to it.
    is_first: bool,
}

impl Checksum {
    /// Creates that of no cell.
    pub(crate) const fn new(extension: ChecksumExtension) -> Self {
        Self { extension, sum: 0, is_first: true }
    }

    /// Adds a cell; `left` is the one before it in its row. Source: xterm 379 as observed.
    pub(crate) fn add(&mut self, left: Option<Cell>, cell: Cell) {
        let is_first = core::mem::take(&mut self.is_first);
        let is_right_half = left.is_some_and(|left| left.wide);
        let is_written = cell.base.is_some() || is_right_half;
        // Only the first cell counts in any case: with bit 2 unset all others do that were written.
        if !(is_written || self.extension.counts_empty() || is_first && !self.extension.has(3)) {
            return;
        }
        let is_hidden = cell.pen.attributes.contains(Attributes::INVISIBLE);
        let character = match cell.base {
            // The value that xterm keeps in the right half of a wide character.
            None if is_right_half => 0xffff,
            Some(base) if !is_hidden => u32::from(base),
            _ => u32::from(' '),
        };
        let mask = if self.extension.counts_all_bits() { 0xffff } else { 0xff };
        let low = u16::try_from(character & mask).expect("masked");
        self.sum = self.sum.wrapping_add(low);
        if self.extension.counts_attributes() {
            self.sum = self.sum.wrapping_add(weight(cell.pen.attributes));
        }
    }

    /// Returns the checksum.
    pub(crate) const fn value(self) -> u16 {
        if self.extension.is_negated() { self.sum.wrapping_neg() } else { self.sum }
    }
}

/// Returns what attributes add to a cell.
fn weight(attributes: Attributes) -> u16 {
    let of = |attribute, weight| if attributes.contains(attribute) { weight } else { 0 };
    let underline = if attributes.underline() == Underline::Straight { 0x10 } else { 0 };
    underline
        + of(Attributes::INVERSE, 0x20)
        + of(Attributes::BLINK, 0x40)
        + of(Attributes::BOLD, 0x80)
}
