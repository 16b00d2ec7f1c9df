//! Characters of Unicode versions after 18, the version of this crate's width tables.
//!
//! A code point that is not assigned occupies a column ([`crate::char_width`]). If the user's terminal has newer
//! tables, the same code point may be an emoji or ideograph, which occupies two.

/// First code point of Unicode's plane 1, to which newer versions add characters.
const PLANE: u32 = 0x1_0000;

/// Most newer characters known as wide. Further ones stay narrow. Chosen: over three times the new emoji of Unicode 18.
const WIDE_MAX: usize = 32;

/// A character of Unicode's plane 1, to which newer versions add characters. Client and server may have different
/// versions, and disagree about which characters are newer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewerChar(u16);

impl NewerChar {
    /// Creates a `NewerChar`. `None` for a character of another plane.
    pub fn new(c: char) -> Option<Self> {
        u32::from(c).checked_sub(PLANE).and_then(|offset| u16::try_from(offset).ok()).map(Self)
    }

    /// Returns the character.
    pub fn char(self) -> char {
        char::from_u32(PLANE + u32::from(self.0)).expect("it was made of a character")
    }
}

/// Characters of newer Unicode versions, which the user's terminal draws two columns wide, as the client has measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NewerWide {
    chars: [char; WIDE_MAX],
    len: usize,
}

impl NewerWide {
    /// The empty set.
    pub const NONE: Self = Self { chars: ['\0'; WIDE_MAX], len: 0 };

    /// Adds a character that is two columns wide. Ignores it unless [`may_be_newer`] is true, or if the set is full.
    pub fn insert(&mut self, c: NewerChar) {
        let c = c.char();
        if may_be_newer(c) && !self.contains(c) && self.len < WIDE_MAX {
            self.chars[self.len] = c;
            self.len += 1;
        }
    }

    /// Returns whether the set contains `c`, so that the user's terminal draws it two columns wide.
    pub fn contains(&self, c: char) -> bool {
        self.chars[..self.len].contains(&c)
    }

    /// Returns whether the set has no character.
    pub(crate) const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// Returns whether `c` may be a wide character of a Unicode version after this crate's tables, which give it one
/// column. Such code points are in the blocks of emoji and signs, and near the scripts of ideographs and kana. Also
/// true for a few narrow signs that Unicode 18 assigns.
pub const fn may_be_newer(c: char) -> bool {
    // Ordinary text has no characters from this code point on, so it needs no search.
    c >= '\u{16fe4}' && c <= '\u{1fffd}' && is_unassigned(c)
}

const fn is_unassigned(c: char) -> bool {
    matches!(c,
        '\u{16fe5}'..='\u{16fef}' | '\u{16ff7}'..='\u{16fff}' | '\u{18cdb}'..='\u{18cfe}'
        | '\u{18d21}'..='\u{18d7f}' | '\u{18df3}'..='\u{18dff}' | '\u{19192}'..='\u{1919f}'
        | '\u{191d3}'..='\u{1afef}' | '\u{1b129}'..='\u{1b131}' | '\u{1b133}'..='\u{1b14f}'
        | '\u{1b153}'..='\u{1b154}' | '\u{1b156}'..='\u{1b163}' | '\u{1b169}'..='\u{1b16f}'
        | '\u{1b2fc}'..='\u{1b2ff}' | '\u{1f02c}'..='\u{1f02f}' | '\u{1f094}'..='\u{1f09f}'
        | '\u{1f0af}'..='\u{1f0b0}' | '\u{1f0c0}' | '\u{1f0d0}' | '\u{1f0f6}'..='\u{1f0ff}'
        | '\u{1f1af}'..='\u{1f1e5}' | '\u{1f203}'..='\u{1f20f}' | '\u{1f23c}'..='\u{1f23f}'
        | '\u{1f249}'..='\u{1f24f}' | '\u{1f252}'..='\u{1f25f}' | '\u{1f266}'..='\u{1f2ff}'
        | '\u{1f6da}'..='\u{1f6db}' | '\u{1f6ed}'..='\u{1f6ef}' | '\u{1f6fd}'..='\u{1f6ff}'
        | '\u{1f7db}'..='\u{1f7df}' | '\u{1f7ec}'..='\u{1f7ef}' | '\u{1f7f1}'..='\u{1f7ff}'
        | '\u{1f80c}'..='\u{1f80f}' | '\u{1f848}'..='\u{1f84f}' | '\u{1f85a}'..='\u{1f85f}'
        | '\u{1f888}'..='\u{1f88f}' | '\u{1f8ae}'..='\u{1f8af}' | '\u{1f8bc}'..='\u{1f8bf}'
        | '\u{1f8c2}'..='\u{1f8cf}' | '\u{1f8d9}'..='\u{1f8ff}' | '\u{1fa58}'..='\u{1fa5f}'
        | '\u{1fa6e}'..='\u{1fa6f}' | '\u{1fa7d}'..='\u{1fa7f}' | '\u{1fac7}' | '\u{1fac9}'..='\u{1facb}'
        | '\u{1fade}' | '\u{1faec}'..='\u{1faee}' | '\u{1fafb}'..='\u{1faff}' | '\u{1fb93}'
        | '\u{1fbfb}'..='\u{1fffd}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::char_width;

    #[test]
    fn no_character_of_unicode_17_and_no_wide_one_of_18_is_newer() {
        let versions = (char::UNICODE_VERSION, unicode_width::UNICODE_VERSION);
        assert_eq!(versions, ((17, 0, 0), (18, 0, 0)), "the table is to be made again");
        for c in ('\0'..=char::MAX).filter(|c| may_be_newer(*c)) {
            // The standard library escapes code points that are not assigned.
            assert!(c.escape_debug().count() > 1, "{c:?}");
            assert_eq!(char_width(c), 1, "{c:?}");
            assert_eq!(NewerChar::new(c).map(NewerChar::char), Some(c));
        }
        assert_eq!(['a', '\u{ffff}', '\u{20000}'].map(NewerChar::new), [None; 3]);
        assert_eq!(('\0'..=char::MAX).filter(|c| may_be_newer(*c)).count(), 9400);
    }

    #[test]
    fn so_many_are_kept_and_no_more() {
        let mut wide = NewerWide::default();
        let newer = ('\u{1fc00}'..='\u{1ffff}').filter(|c| may_be_newer(*c));
        let known = ['\u{1f600}', '\u{1faeb}'];
        for c in
            known.into_iter().chain(newer.clone()).take(WIDE_MAX + 3).filter_map(NewerChar::new)
        {
            wide.insert(c);
            wide.insert(c);
        }
        assert!(!known.into_iter().chain(['\0']).any(|c| wide.contains(c)));
        assert_eq!(newer.filter(|c| wide.contains(*c)).count(), WIDE_MAX);
    }
}
