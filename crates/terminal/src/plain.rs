//! Foreign text that the user's terminal or desktop shows outside of the screen: titles, notifications, messages. In
//! plain text, no character hides or reorders its neighbours, or acts on the terminal.
//!
//! Within the screen, each character has its own cell. Elsewhere, other software lays out the text: a right-to-left
//! override would reverse `[rove] `, and a line separator would hide it.

use core::ops::RangeInclusive;

/// The characters that plain text omits. They are format characters (Unicode 16, General Category Cf, with all of
/// Bidi_Control), line and paragraph separators (Zl, Zp), and other invisible characters
/// (Default_Ignorable_Code_Point). Plain text keeps most visible signs that enclose the number after them
/// (Prepended_Concatenation_Mark), and the characters of [`is_joiner`].
const LEFT_OUT: [RangeInclusive<char>; 23] = [
    '\u{ad}'..='\u{ad}',       // soft hyphen
    '\u{34f}'..='\u{34f}',     // combining grapheme joiner
    '\u{61c}'..='\u{61c}',     // Arabic letter mark
    '\u{115f}'..='\u{1160}',   // Hangul fillers
    '\u{17b4}'..='\u{17b5}',   // Khmer inherent vowels
    '\u{180e}'..='\u{180e}',   // Mongolian vowel separator
    '\u{200b}'..='\u{200b}',   // zero width space
    '\u{200e}'..='\u{200f}',   // directional marks
    '\u{2028}'..='\u{202e}',   // separators; embeddings and overrides
    '\u{2060}'..='\u{206f}',   // word joiner, invisible operators, isolates, deprecated ones
    '\u{3164}'..='\u{3164}',   // Hangul filler
    '\u{feff}'..='\u{feff}',   // zero width no-break space
    '\u{ffa0}'..='\u{ffa0}',   // halfwidth Hangul filler
    '\u{fff0}'..='\u{fffb}',   // unassigned; interlinear annotation
    '\u{110bd}'..='\u{110bd}', // Kaithi number sign
    '\u{110cd}'..='\u{110cd}', // Kaithi number sign above
    '\u{13430}'..='\u{1343f}', // Egyptian hieroglyph format controls
    '\u{1bca0}'..='\u{1bca3}', // shorthand format controls
    '\u{1d173}'..='\u{1d17a}', // musical format controls
    '\u{fdd0}'..='\u{fdef}',   // noncharacters
    '\u{fffe}'..='\u{ffff}',   // noncharacters
    '\u{e0000}'..='\u{e00ff}', // language tags
    '\u{e01f0}'..='\u{e0fff}', // unassigned, ignorable
];

/// Returns `text` without controls, and without characters that hide or reorder others.
///
/// Keeps U+200C, U+200D and variation selectors where a script or an emoji may need them. Omits U+200C and U+200D at
/// the beginning, after ASCII and after each other. Omits a selector at the beginning, after a space, and after U+200C,
/// U+200D or a selector. Also omits a combining mark at the beginning, because it would change the character in front
/// of the text.
pub fn plain(text: &str) -> String {
    let mut filter = Plain::default();
    text.chars().filter(|c| filter.admits(*c)).collect()
}

/// Returns the width of a text. An invisible character counts too, so that no text has more characters than columns.
pub fn columns_of(text: &str) -> usize {
    text.chars().map(|c| usize::from(crate::char_width(c)).max(1)).sum()
}

/// Returns [`plain`] text of at most `columns`. A longer text has "..." in place of its middle.
pub fn shortened(text: &str, columns: usize) -> String {
    let text = plain(text);
    if columns_of(&text) <= columns {
        return text;
    }
    let half = columns.saturating_sub(3) / 2;
    let is_short = |part: &&str| columns_of(part) <= half;
    let ends = || text.char_indices().map(|(at, _)| at).take(half + 1);
    let begins = text.char_indices().rev().map(|(at, _)| at).take(half);
    let beginning = ends().map(|at| &text[..at]).filter(is_short).last();
    let end = begins.map(|at| &text[at..]).filter(is_short).last();
    [beginning.unwrap_or_default(), "...", end.unwrap_or_default()].concat()
}

/// Filters text that arrives character by character, by the rules of [`plain`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain {
    /// The last character that was kept. `None` at the beginning of the text.
    last: Option<char>,
}

impl Plain {
    /// Returns whether [`plain`] keeps `c` after the characters kept so far.
    pub fn admits(&mut self, c: char) -> bool {
        let shows = !is_left_out(c) && may_follow(self.last, c);
        if shows {
            self.last = Some(c);
        }
        shows
    }
}

/// Returns `text` with JSON's escapes (`\u202e`) in place of the characters that [`plain`] omits. A reader sees each
/// escape, and JSON strings keep their value.
pub fn escaped(text: &str) -> String {
    let (mut shown, mut filter) = (String::with_capacity(text.len()), Plain::default());
    for c in text.chars() {
        if filter.admits(c) {
            shown.push(c);
        } else {
            shown.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
            // To the filter, the next character follows the last digit of the escape.
            filter.admits('0');
        }
    }
    shown
}

pub(crate) fn is_plain(text: &str) -> bool {
    let mut filter = Plain::default();
    text.chars().all(|c| filter.admits(c))
}

fn is_left_out(c: char) -> bool {
    c.is_control() || LEFT_OUT.iter().any(|range| range.contains(&c))
}

/// Returns whether [`plain`] allows `c` after `last`. `None` stands for the beginning of the text.
fn may_follow(last: Option<char>, c: char) -> bool {
    match (last, c) {
        (Some(last), '\u{200c}' | '\u{200d}') => !last.is_ascii() && !is_zero_width_joiner(last),
        // Emoji need selectors after ASCII (a keycap) and before joiners (a heart in colour, joined with fire).
        (Some(last), c) if is_variation_selector(c) => last != ' ' && !is_joiner(last),
        (Some(_), _) => true,
        (None, c) => !is_joiner(c) && crate::char_width(c) > 0,
    }
}

/// Returns whether a character is invisible and selects the form of its neighbours. It is a variation selector, or a
/// joiner or non-joiner, which Arabic, Indic scripts and emoji need.
fn is_joiner(c: char) -> bool {
    is_zero_width_joiner(c) || is_variation_selector(c)
}

const fn is_zero_width_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

const fn is_variation_selector(c: char) -> bool {
    matches!(c, '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn characters_that_hide_or_reorder_are_left_out() {
        for (text, kept) in [
            ("\u{202e}tfel ot thgir", "tfel ot thgir"),
            ("\u{2066}a\u{2069}\u{200e}b\u{200f}c\u{61c}", "abc"),
            ("a\u{2028}b\u{2029}c", "abc"),
            ("pass\u{ad}word\u{200b}\u{2060}\u{feff}", "password"),
            ("a\u{e0041}\u{e007f}", "a"),
            ("a\u{fff9}b\u{fffb}\u{206a}", "ab"),
            ("\u{3164}\u{115f}\u{ffa0}x", "x"),
            ("a\x1b]2;b\x07\u{9b}\n\tc", "a]2;bc"),
            ("a\u{34f}\u{fffe}", "a"),
        ] {
            assert_eq!(plain(text), kept, "{text:?}");
            assert!(!is_plain(text), "{text:?}");
        }
    }

    #[test]
    fn scripts_and_emoji_keep_what_they_need() {
        for text in [
            "",
            "vim: a file.txt",
            "\u{5e9}\u{5dc}\u{5d5}\u{5dd}",
            // Persian: "I want", with a non-joiner.
            "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
            // Sinhala: "Sri", with a joiner.
            "\u{dc1}\u{dca}\u{200d}\u{dbb}\u{dd3}",
            // A woman at a computer; a heart on fire; a keycap.
            "\u{1f469}\u{200d}\u{1f4bb}",
            "\u{2764}\u{fe0f}\u{200d}\u{1f525}",
            "1\u{fe0f}\u{20e3}",
            // The end of a verse, and a number's sign.
            "\u{6dd}\u{661}",
            "e\u{301}",
            // A branch, in a font for prompts.
            "\u{e0a0} main \u{f02a2}",
            "\u{8fbb}\u{e0100}",
        ] {
            assert_eq!(plain(text), text, "{text:?}");
            assert!(is_plain(text), "{text:?}");
        }
    }

    #[test]
    fn joiners_without_a_purpose_and_marks_without_a_letter_are_left_out() {
        for (text, kept) in [
            ("\u{200d}a\u{200d}b", "ab"),
            ("a \u{fe0f}b", "a b"),
            ("\u{5d0}\u{200d}\u{200d}\u{200c}", "\u{5d0}\u{200d}"),
            ("\u{5d0}\u{fe0f}\u{fe0f}", "\u{5d0}\u{fe0f}"),
            ("\u{338}\u{20dd}a\u{338}", "a\u{338}"),
            ("\u{200b}\u{338}a", "a"),
        ] {
            assert_eq!(plain(text), kept, "{text:?}");
            assert!(!is_plain(text), "{text:?}");
        }
    }

    #[test]
    fn escaped_characters_are_the_same_in_json() {
        let text = "a\u{1b}]2;b\u{7}\u{9b}\u{202e}\u{e0041}\u{200d} \u{1f469}\u{200d}\u{1f4bb}";
        let shown = r"a\u001b]2;b\u0007\u009b\u202e\udb40\udc41\u200d \u{1f469}".to_owned();
        let shown = shown.replace(r"\u{1f469}", "\u{1f469}\u{200d}\u{1f4bb}");
        assert_eq!(escaped(text), shown);
    }

    proptest! {
        #[test]
        fn plain_text_stays_as_it_is(text in any::<String>()) {
            let once = plain(&text);
            prop_assert!(is_plain(&once), "{once:?}");
            prop_assert_eq!(plain(&once), once.clone());
            prop_assert_eq!(is_plain(&text), text == once);
            prop_assert!(is_plain(&escaped(&text)), "{:?}", escaped(&text));
            prop_assert_eq!(escaped(&once), once.clone());
        }
    }
}
