//! The number of columns that the user's terminal gives to characters that consist of several code points.
//!
//! Stock Mosh and programs that call `wcwidth` add the widths of code points ([`char_width`]). Most modern terminals
//! instead give a width to a *cluster*: a sequence that a reader sees as one character (Unicode Standard Annex 29).
//! Examples are an emoji with its modifier, a flag and a syllable. Terminals support different kinds of clusters. So
//! each kind has a bit, which rove measures on the user's terminal.

use bitflags::bitflags;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::width::char_width;

/// Zero width joiner: joins the emoji on its two sides to one.
pub(crate) const ZERO_WIDTH_JOINER: char = '\u{200d}';
/// A Tai Tham sign that puts the next consonant below the preceding consonant, even after a vowel.
const SAKOT: char = '\u{1a60}';
/// Variation selectors. U+FE0E displays the preceding character as text, and U+FE0F as a picture.
const TEXT_SELECTOR: char = '\u{fe0e}';
const EMOJI_SELECTOR: char = '\u{fe0f}';

bitflags! {
    /// The kinds of clusters that a terminal draws as one character, each as a bit. If no bit is set, the width of a
    /// text is the sum of its code points' widths, as in stock Mosh.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct ClusterWidths: u8 {
        /// Joined emoji: a character after U+200D belongs to the preceding cluster.
        const JOINED = 1;
        /// Skin tones: U+1F3FB to U+1F3FF belong to the preceding emoji.
        const MODIFIERS = 1 << 1;
        /// Flags: a flag occupies two columns, and so does a lone half of a flag (a regional indicator).
        const FLAGS = 1 << 2;
        /// The picture selector U+FE0F makes a narrow character wide. A terminal without this kind never widens a
        /// printed cell (tmux 3.3a as observed).
        const EMOJI_SELECTOR = 1 << 3;
        /// The text selector U+FE0E makes a wide character narrow.
        const TEXT_SELECTOR = 1 << 4;
        /// Syllables: consonants that are joined to a syllable occupy at most two columns.
        const SYLLABLES = 1 << 5;
        /// A spacing mark occupies no column.
        const MARKS = 1 << 6;
        /// A skin tone belongs to the preceding cluster even if that cluster is not an emoji.
        const BARE_MODIFIERS = 1 << 7;
    }
}

impl ClusterWidths {
    /// No kinds: the width of a text is the sum of its code points' widths.
    pub const CODE_POINTS: Self = Self::empty();
    /// All kinds except [`Self::MARKS`] and [`Self::BARE_MODIFIERS`]. Source: the specification of Python's wcwidth
    /// 0.9, which measures terminals.
    pub const ALL: Self = Self::from_bits_retain(0b11_1111);

    /// Returns whether no kind is set, so that a text's width is the sum of its code points' widths.
    pub const fn is_code_points(self) -> bool {
        self.is_empty()
    }

    /// Returns whether the set contains joined emoji, skin tones and the picture selector, as mode 2027 requires.
    pub const fn has_mode(self) -> bool {
        self.contains(Self::JOINED.union(Self::MODIFIERS).union(Self::EMOJI_SELECTOR))
    }

    /// Returns how many columns, 0 to 2, `c` occupies if it is a cluster by itself.
    pub fn char_width(self, c: char) -> u16 {
        match c {
            _ if self.contains(Self::FLAGS) && is_regional(c) => 2,
            // xterm and the C library treat these circled numbers as wide, but terminals with clusters as narrow.
            '\u{3248}'..='\u{324f}' if self.has_mode() => 1,
            _ => char_width(c),
        }
    }

    /// Returns whether `c`, which must have a width by itself, continues the cluster `before` of the preceding cell.
    pub fn joins(self, before: &str, c: char) -> bool {
        let Some(last) = before.chars().next_back() else { return false };
        if self.is_code_points() || begins_cluster(c) && begins_cluster(last) {
            return false;
        }
        let kind = match c {
            _ if is_modifier(c) && is_picture(before) => Self::MODIFIERS,
            _ if is_modifier(c) => Self::BARE_MODIFIERS,
            _ if is_regional(c) => Self::FLAGS,
            _ if before.ends_with(ZERO_WIDTH_JOINER) => Self::JOINED,
            _ => Self::SYLLABLES,
        };
        let is_mark = || self.contains(Self::MARKS) && is_spacing_mark(c);
        (self.contains(kind) || is_mark()) && is_one_cluster(before, c)
            || self.contains(Self::SYLLABLES) && before.ends_with(SAKOT)
    }

    /// Returns how many columns, 1 or 2, a cell with this text occupies.
    pub(crate) fn cell_width(self, text: &str) -> u16 {
        let mut chars = text.chars();
        let Some(base) = chars.next() else { return 1 };
        let mut width = self.char_width(base);
        let mut last = base;
        for (index, c) in chars.enumerate() {
            let before = core::mem::replace(&mut last, c);
            width = match c {
                // A terminal whose set lacks syllables and marks joins letters only at U+200D. The joined cell keeps
                // its width (tmux 3.5a as observed).
                _ if before == ZERO_WIDTH_JOINER
                    && !self.intersects(Self::SYLLABLES | Self::MARKS)
                    && !is_picture(text) =>
                {
                    width
                }
                EMOJI_SELECTOR if index == 0 && self.contains(Self::EMOJI_SELECTOR) => {
                    width.max(selects(base, c))
                }
                TEXT_SELECTOR if index == 0 && self.contains(Self::TEXT_SELECTOR) => {
                    if char_width(base) == 2 && may_be_text(base) { 1 } else { width }
                }
                _ if !self.contains(Self::EMOJI_SELECTOR) => width,
                _ if is_virama(c) => width,
                _ if self.contains(Self::MARKS) && is_spacing_mark(c) => width,
                _ => width + self.char_width(c),
            }
            .min(2);
        }
        width.max(1)
    }
}

/// Returns whether `c` extends a letter's cluster, as a spacing mark does. False for the vowels U+0E33 and U+0EB3. They
/// also extend a cluster, but kitty 0.26 gives each of them a column, because they are letters.
fn is_spacing_mark(c: char) -> bool {
    !matches!(c, '\u{e33}' | '\u{eb3}') && is_one_cluster("\u{915}", c)
}

/// Returns whether `c` is a spacing mark without a column, which removes a consonant's vowel. Source: Python's wcwidth
/// 0.9 as observed over all spacing marks.
const fn is_virama(c: char) -> bool {
    matches!(c, '\u{1b44}' | '\u{a9c0}' | '\u{111c0}' | '\u{11235}' | '\u{1134d}' | '\u{116b6}')
}

/// Returns whether the wide character `base` becomes narrow if U+FE0E follows.
fn may_be_text(base: char) -> bool {
    // The unicode-width crate leaves these East Asian signs wide, but terminals do not (kitty 0.26 as observed).
    matches!(
        base,
        '\u{3030}'
            | '\u{303d}'
            | '\u{3297}'
            | '\u{3299}'
            | '\u{1f202}'
            | '\u{1f21a}'
            | '\u{1f22f}'
            | '\u{1f237}'
    ) || selects(base, TEXT_SELECTOR) == 1
}

/// Returns the clusters of a text, each of which a reader sees as one character.
pub fn clusters(text: &str) -> impl Iterator<Item = &str> {
    text.graphemes(true)
}

/// Returns how many columns, 1 or 2, the pair of `base` and a variation selector occupies.
fn selects(base: char, selector: char) -> u16 {
    let width = String::from_iter([base, selector]).width();
    u16::try_from(width).expect("two characters").clamp(1, 2)
}

/// Returns whether `text` begins with a character that U+200D can join to others.
fn is_picture(text: &str) -> bool {
    text.chars()
        .next()
        .is_some_and(|base| is_one_cluster(&format!("{base}{ZERO_WIDTH_JOINER}"), '\u{1f469}'))
}

fn is_one_cluster(before: &str, c: char) -> bool {
    let text = format!("{before}{c}");
    text.graphemes(true).next_back().is_some_and(|last| last.len() > c.len_utf8())
}

/// Returns whether `c` is in a list of common characters. Two adjacent characters of this list belong to different
/// clusters. Characters outside the list may begin clusters too.
pub(crate) const fn begins_cluster(c: char) -> bool {
    matches!(c,
        ' '..='~'
        | '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{2ff}' // Latin
        | '\u{370}'..='\u{482}' | '\u{48a}'..='\u{52f}' // Greek, Cyrillic
        | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' | '\u{20a0}'..='\u{20c0}' // punctuation, currencies
        | '\u{2100}'..='\u{2b73}' | '\u{2e80}'..='\u{3029}' // signs, arrows, boxes, dingbats, radicals
        | '\u{3030}'..='\u{3096}' | '\u{309b}'..='\u{3247}' | '\u{3250}'..='\u{a48c}' // kana, ideographs, Yi
        | '\u{ac00}'..='\u{d7a3}' | '\u{e000}'..='\u{fa6d}' // Hangul syllables, private use, ideographs
        | '\u{ff01}'..='\u{ff9d}' // halfwidth and fullwidth forms
        | '\u{1f300}'..='\u{1f3fa}' | '\u{1f400}'..='\u{1faff}' // emoji without skin tones
        | '\u{20000}'..='\u{2ffff}' // ideographs
    )
}

/// Returns whether `c` is a variation selector, which chooses between text and picture.
pub(crate) const fn is_selector(c: char) -> bool {
    matches!(c, TEXT_SELECTOR | EMOJI_SELECTOR)
}

/// Returns whether `c` is a skin tone, which colours the emoji on its left.
pub(crate) const fn is_modifier(c: char) -> bool {
    matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
}

/// Returns whether `c` is a regional indicator, half of a flag emoji.
pub(crate) const fn is_regional(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

#[cfg(test)]
mod tests;
