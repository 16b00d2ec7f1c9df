//! ISO 2022 character sets. The emulator translates characters to Unicode when it prints them.

/// A 94-character set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Charset {
    /// ASCII (`B`). This set also replaces unknown sets.
    #[default]
    Ascii,
    /// DEC special graphics (`0`), the line drawing set.
    DecGraphics,
    /// ASCII with a pound sign in place of `#` (`A`).
    British,
}

/// The characters of DEC special graphics from 0x5f to 0x7e. Source: VT220 manual, table 2-4; xterm's choice of code
/// points.
const DEC_GRAPHICS: [char; 32] = [
    ' ', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻', '─',
    '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
];

impl Charset {
    /// Returns the character set that the final byte `last` of a designation (`ESC ( B`) selects.
    pub(crate) const fn designated(last: u8) -> Self {
        match last {
            b'0' => Self::DecGraphics,
            b'A' => Self::British,
            _ => Self::Ascii,
        }
    }

    fn translate(self, c: char) -> char {
        match (self, c) {
            (Self::DecGraphics, '_'..='~') => {
                let index = u32::from(c) - u32::from('_');
                DEC_GRAPHICS[usize::try_from(index).expect("below 32")]
            }
            (Self::British, '#') => '£',
            _ => c,
        }
    }
}

/// The four designated sets G0 to G3, and the choice of the active set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Charsets {
    sets: [Charset; 4],
    /// The index of the set for all text (GL).
    locked: usize,
    /// The index of the set for the next character only (SS2, SS3). `None` if there is no single shift.
    single: Option<usize>,
}

impl Charsets {
    /// Designates `charset` as the set with the number `slot`: 0 for G0, up to 3 for G3.
    pub(crate) fn designate(&mut self, slot: usize, charset: Charset) {
        self.sets[slot] = charset;
    }

    /// Selects set `slot` for all text from this call on (SI, SO, LS2, LS3).
    pub(crate) fn lock(&mut self, slot: usize) {
        self.locked = slot;
    }

    /// Selects set `slot` for the next character only (SS2, SS3).
    pub(crate) fn shift_once(&mut self, slot: usize) {
        self.single = Some(slot);
    }

    /// Returns whether text is printed without translation.
    pub(crate) fn is_plain(&self) -> bool {
        self.single.is_none() && self.sets[self.locked] == Charset::Ascii
    }

    /// Returns the Unicode character for `c` in the active set. Ends a single shift.
    pub(crate) fn translate(&mut self, c: char) -> char {
        let slot = self.single.take().unwrap_or(self.locked);
        self.sets[slot].translate(c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_drawing_covers_its_whole_range() {
        for (c, drawn) in [
            ('^', '^'),
            ('_', ' '),
            ('`', '◆'),
            ('j', '┘'),
            ('q', '─'),
            ('x', '│'),
            ('~', '·'),
            ('é', 'é'),
        ] {
            assert_eq!(Charset::DecGraphics.translate(c), drawn);
        }
    }

    #[test]
    fn a_single_shift_lasts_one_character() {
        let mut charsets = Charsets::default();
        charsets.designate(2, Charset::DecGraphics);
        charsets.shift_once(2);
        assert_eq!([charsets.translate('q'), charsets.translate('q')], ['─', 'q']);
    }
}
