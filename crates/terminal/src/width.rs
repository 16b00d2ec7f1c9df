//! Columns per code point, from `unicode-width` with the exceptions listed here.
//!
//! Cells are placed by the sum of the widths of single characters, as `wcwidth` programs and stock
//! Mosh do; clusters (variation selectors, joined emoji, flags) never change a width. The exceptions:
//!
//! | code points | crate | here | why |
//! |---|---|---|---|
//! | U+00AD soft hyphen | 0 | 1 | xterm, glibc and Mosh 1.4.0 show it |
//! | any wider than 2 (U+17D8) | 3 | 2 | a cell has two halves |
//! | C0, C1, DEL | none | 0 | never printed |

use unicode_width::UnicodeWidthChar;

/// Returns the columns `c` takes: 0, 1 or 2.
pub fn char_width(c: char) -> u16 {
    match c {
        ' '..='~' | '\u{a0}'..='\u{ff}' => 1,
        _ => u16::try_from(c.width().unwrap_or(0).min(2)).expect("at most 2"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scalar_takes_at_most_two_columns() {
        assert!(('\0'..=char::MAX).all(|c| char_width(c) <= 2));
    }

    #[test]
    fn widths_are_those_of_terminals() {
        for (c, width) in [
            ('a', 1),
            ('\u{ad}', 1),
            ('\u{e9}', 1),
            ('\u{301}', 0),
            ('\u{200b}', 0),
            ('\u{200d}', 0),
            ('\u{fe0f}', 0),
            ('\u{4e00}', 2),
            ('\u{1f600}', 2),
            ('\u{2764}', 1),
            ('\u{1f1e9}', 1),
            ('\u{17d8}', 2),
            ('\u{2500}', 1),
            ('\u{fffd}', 1),
            ('\x07', 0),
        ] {
            assert_eq!(char_width(c), width, "{c:?}");
        }
    }
}
