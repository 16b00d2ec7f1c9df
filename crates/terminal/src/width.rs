//! The columns of each code point, from the crate `unicode-width` with the exceptions listed here.
//!
//! The width of a text is the sum of its characters' widths. Programs that use `wcwidth` and stock Mosh count so too.
//! Clusters (variation selectors, joined emoji, flags) never change a width. But `unicode-width` is made for clusters,
//! and gives no column to a character that extends a cluster. A line editor on the pty must agree with the screen. So
//! the widths of the C library's `wcwidth` (glibc 2.36 as measured over all code points) override the crate's widths of
//! characters that both know:
//!
//! | code points | crate | here | why |
//! |---|---|---|---|
//! | spacing marks (category Mc) that extend a cluster | 0 | 1 | glibc gives a spacing mark a column |
//! | signs and letters prepended to a cluster | 0 | 1 | glibc gives such characters a column, even of category Cf |
//! | U+00AD soft hyphen, U+FFA0 Hangul filler | 0 | 1 | glibc gives both a column; xterm shows the hyphen |
//! | U+302E, U+302F, U+16FF0, U+16FF1, U+3164 | 0 | 2 | glibc gives them columns, and they are East Asian Wide |
//! | U+2D7F, U+FFF9 to U+FFFB, U+13430 to U+1343F | 1 | 0 | glibc gives such characters no column |
//! | U+3248 to U+324F | 1 | 2 | xterm and glibc agree |
//! | U+17A4, U+17D8 | 2, 3 | 1 | a single sign that stands for several; xterm and glibc agree |
//! | C0, C1, DEL | none | 0 | never printed |

use unicode_width::UnicodeWidthChar;

/// Returns how many columns `c` occupies: 0, 1 or 2.
#[inline]
pub fn char_width(c: char) -> u16 {
    // ASCII, Latin and the soft hyphen need no table.
    if matches!(c, ' '..='~' | '\u{a0}'..='\u{2ff}') {
        return 1;
    }
    if is_common_and_wide(c) {
        return 2;
    }
    // The exceptions are grouped by the result of `unicode-width`, so that common characters need few comparisons.
    let width = c.width();
    if width >= Some(2) {
        return if matches!(c, '\u{17a4}' | '\u{17d8}') { 1 } else { 2 };
    }
    match (width, c) {
        (None, _) => 0,
        (Some(0), '\u{302e}' | '\u{302f}' | '\u{3164}' | '\u{16ff0}' | '\u{16ff1}') => 2,
        (Some(0), _) => u16::from(c == '\u{ffa0}' || is_prepended(c) || is_spacing_mark(c)),
        (_, '\u{2d7f}' | '\u{fff9}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}') => 0,
        (_, '\u{3248}'..='\u{324f}') => 2,
        _ => 1,
    }
}

/// Returns whether `c` is a wide character in a block that most wide text uses. For these blocks, the test is faster
/// than the table of `unicode-width`, which saves a tenth of the time of printing.
///
/// The function has no match and no `||`. The processor cannot predict which block comes next, so branches would be
/// slower than the table.
const fn is_common_and_wide(c: char) -> bool {
    const fn within(c: char, first: char, last: char) -> bool {
        (c as u32).wrapping_sub(first as u32) <= last as u32 - first as u32
    }
    within(c, '\u{3041}', '\u{3096}') // Hiragana
        | within(c, '\u{309b}', '\u{30ff}') // Katakana
        | within(c, '\u{3250}', '\u{a48c}') // CJK ideographs, Yi
        | within(c, '\u{ac00}', '\u{d7a3}') // Hangul syllables
        | within(c, '\u{1f442}', '\u{1f4fc}') // objects
        | within(c, '\u{1f5fb}', '\u{1f64f}') // faces
}

/// Returns whether `unicode-width` gives no column to the sign or letter `c`. All except U+A8FA begin a cluster.
const fn is_prepended(c: char) -> bool {
    matches!(c,
        '\u{605}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{d4e}' | '\u{a8fa}'
        | '\u{111c2}'..='\u{111c3}' | '\u{113d1}' | '\u{1193f}' | '\u{11941}'
        | '\u{11a84}'..='\u{11a89}' | '\u{11d46}' | '\u{11f02}'
    )
}

/// Returns whether `c` is a spacing mark that extends a cluster and is not wide.
const fn is_spacing_mark(c: char) -> bool {
    matches!(c,
        '\u{9be}' | '\u{9d7}' // Bengali
        | '\u{b3e}' | '\u{b57}' // Oriya
        | '\u{bbe}' | '\u{bd7}' // Tamil
        | '\u{cc0}' | '\u{cc2}' | '\u{cc7}'..='\u{cc8}' | '\u{cca}'..='\u{ccb}' // Kannada
        | '\u{cd5}'..='\u{cd6}' // Kannada
        | '\u{d3e}' | '\u{d57}' // Malayalam
        | '\u{dcf}' | '\u{ddf}' // Sinhala
        | '\u{1715}' | '\u{1734}' // Tagalog, Hanunoo
        | '\u{1b35}' | '\u{1b3b}' | '\u{1b3d}' | '\u{1b43}'..='\u{1b44}' // Balinese
        | '\u{1baa}' | '\u{1bf2}'..='\u{1bf3}' // Sundanese, Batak
        | '\u{a953}' | '\u{a9c0}' // Rejang, Javanese
        | '\u{111c0}' | '\u{11235}' // Sharada, Khojki
        | '\u{1133e}' | '\u{1134d}' | '\u{11357}' // Grantha
        | '\u{113b8}' | '\u{113c2}' | '\u{113c5}' | '\u{113c7}'..='\u{113c9}' | '\u{113cf}' // Tulu
        | '\u{114b0}' | '\u{114bd}' | '\u{115af}' | '\u{116b6}' // Tirhuta, Siddham, Takri
        | '\u{11930}' | '\u{1193d}' // Dives Akuru
        | '\u{11f41}' // Kawi
        | '\u{1d165}'..='\u{1d166}' | '\u{1d16d}'..='\u{1d172}' // musical stems and flags
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the widths of all code points with known figures. These are a digest of the runs of equal width, and
    /// the number of code points of each width. If a newer `unicode-width` changes the figures, review the changed
    /// widths.
    #[test]
    fn every_scalar_has_the_width_it_had() {
        let mut code_points = [0; 3];
        // FNV-1a hashes the start and the width of each run.
        let (mut runs, mut digest, mut previous) = (0, 0xcbf2_9ce4_8422_2325_u64, None);
        for c in '\0'..=char::MAX {
            let width = char_width(c);
            code_points[usize::from(width)] += 1;
            if previous.replace(width) != Some(width) {
                runs += 1;
                for part in [u64::from(c), u64::from(width)] {
                    digest = (digest ^ part).wrapping_mul(0x100_0000_01b3);
                }
            }
        }
        assert_eq!(code_points, [6331, 921_866, 183_867]);
        assert_eq!((runs, digest), (1003, 1_459_553_934_405_047_028));
    }

    #[test]
    fn the_crate_is_overruled_where_the_table_above_says_so() {
        let mut kinds = std::collections::BTreeMap::<_, usize>::new();
        for c in '\0'..=char::MAX {
            let (theirs, ours) = (c.width().unwrap_or(0), char_width(c));
            if theirs != usize::from(ours) {
                *kinds.entry((theirs, ours)).or_default() += 1;
            }
        }
        let kinds: Vec<_> = kinds.into_iter().collect();
        assert_eq!(
            kinds,
            [((0, 1), 79), ((0, 2), 5), ((1, 0), 20), ((1, 2), 8), ((2, 1), 1), ((3, 1), 1)]
        );
    }

    #[test]
    fn widths_are_those_of_terminals() {
        for (text, width) in [
            ("a~\u{a0}\u{ad}\u{e9}\u{ff}", 1),
            ("\u{301}\u{200b}\u{200d}\u{200e}\u{2060}\u{fe0f}\u{feff}\u{20e3}\u{e0041}", 0),
            ("\u{1160}\u{11ff}\u{d7b0}\u{d7fb}", 0), // jamo that join the one before
            ("\u{1100}\u{ac00}\u{3042}\u{4e00}\u{20000}\u{ff21}\u{4dc0}", 2),
            ("\u{1f600}\u{1f3fb}\u{231a}\u{2705}", 2),
            ("\u{2764}\u{1f1e9}\u{263a}\u{a9}\u{20ac}\u{2500}\u{e0b0}\u{fffd}\u{378}", 1),
            ("\u{600}\u{6dd}\u{110bd}\u{bbe}\u{9be}\u{903}\u{94b}", 1), // signs, spacing marks
            ("\u{17a4}\u{17d8}", 1),
            ("\u{302e}\u{3164}", 2),
            ("\0\u{7}\u{7f}\u{9b}", 0),
        ] {
            for c in text.chars() {
                assert_eq!(char_width(c), width, "{c:?}");
            }
        }
    }
}
