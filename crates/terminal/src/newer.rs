//! Characters of a newer Unicode than that of our tables, which is 18.
//!
//! A code point that nobody has assigned takes one column ([`crate::char_width`]). The user's terminal may know better: a newer
//! Unicode brings emoji and ideographs, which take two.

/// Returns whether our tables do not know a character and a newer Unicode may give it two columns: in the blocks of emoji and
/// signs, and around the scripts of ideographs and kana. Some are narrow signs of Unicode 18.
pub const fn may_be_newer(c: char) -> bool {
    // Nothing below is asked for text of today.
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
            // The standard library escapes what is no character.
            assert!(c.escape_debug().count() > 1, "{c:?}");
            assert_eq!(char_width(c), 1, "{c:?}");
        }
        assert_eq!(('\0'..=char::MAX).filter(|c| may_be_newer(*c)).count(), 9400);
    }
}
