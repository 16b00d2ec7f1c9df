//! Checksums of rectangles of the screen, for DECRQCRA.
//!
//! The checksum of a single cell reveals its character, so programs could read the screen with it. A session never
//! answers DECRQCRA ([`crate::UserTerminal::screen_checksums`]). A replay does, because no program reads its answers.

use crate::screen::cell::{Attributes, Cell, Underline};

/// Options of the checksum, set by XTCHECKSUM. Source: xterm's ctlseqs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChecksumExtension(u16);

impl ChecksumExtension {
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

    /// Returns whether cells that were never written are included as spaces.
    const fn counts_empty(self) -> bool {
        self.has(2) && !self.has(3)
    }

    const fn counts_all_bits(self) -> bool {
        self.has(4)
    }
}

/// The checksum of the cells added so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checksum {
    extension: ChecksumExtension,
    sum: u16,
    /// Whether no cell was added yet. Without bit 3, the first cell counts as a space even if it was never written.
    is_first: bool,
}

impl Checksum {
    pub(crate) const fn new(extension: ChecksumExtension) -> Self {
        Self { extension, sum: 0, is_first: true }
    }

    /// Adds a cell to the checksum. `left` is the cell's left neighbour. Source: xterm 379 as observed.
    pub(crate) fn add(&mut self, left: Option<Cell>, cell: Cell) {
        let is_first = core::mem::take(&mut self.is_first);
        let is_right_half = left.is_some_and(|left| left.wide);
        let is_written = cell.base.is_some() || is_right_half;
        // Bit 3 excludes all empty cells. Without bit 3, bit 2 includes them. Without both, only the first cell counts.
        if !(is_written || self.extension.counts_empty() || is_first && !self.extension.has(3)) {
            return;
        }
        let is_hidden = cell.pen.attributes.contains(Attributes::INVISIBLE);
        let character = match cell.base {
            // xterm keeps this value in the right half of a wide character.
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

    pub(crate) const fn value(self) -> u16 {
        if self.extension.is_negated() { self.sum.wrapping_neg() } else { self.sum }
    }
}

/// Returns the sum of the values that xterm adds for a cell's attributes.
fn weight(attributes: Attributes) -> u16 {
    let of = |attribute, weight| if attributes.contains(attribute) { weight } else { 0 };
    let underline = if attributes.underline() == Underline::Straight { 0x10 } else { 0 };
    underline
        + of(Attributes::INVERSE, 0x20)
        + of(Attributes::BLINK, 0x40)
        + of(Attributes::BOLD, 0x80)
}
