//! Which characters the two ends, or two terminals, may give different widths.

/// Returns whether every Unicode version and every terminal in use gives `c` the same width.
///
/// After any other character the cursor is placed absolutely: the receiving end's C library may be
/// years older or newer than ours. Listed are the blocks that were complete by Unicode 11 (2018).
pub(super) const fn width_is_settled(c: char) -> bool {
    matches!(c,
        ' '..='~'
        | '\u{a0}'..='\u{ac}' | '\u{ae}'..='\u{24f}' // Latin; the soft hyphen is 0 or 1 wide
        | '\u{391}'..='\u{3a1}' | '\u{3a3}'..='\u{3ff}' // Greek
        | '\u{400}'..='\u{482}' | '\u{48a}'..='\u{52f}' // Cyrillic
        | '\u{2500}'..='\u{259f}' // box drawing, blocks
        | '\u{3041}'..='\u{3096}' | '\u{309b}'..='\u{30ff}' // kana
        | '\u{4e00}'..='\u{9fef}' // CJK unified ideographs
        | '\u{ac00}'..='\u{d7a3}' // Hangul syllables
    )
}

/// Returns whether real terminals disagree about the columns a cell of `base` and `marks` takes,
/// because some join such sequences to one picture: flags, keycaps, emoji with a modifier, a joiner or
/// a variation selector.
pub(super) fn clusters(base: Option<char>, marks: &str) -> bool {
    matches!(base, Some('\u{1f1e6}'..='\u{1f1ff}' | '\u{1f3fb}'..='\u{1f3ff}'))
        || marks.chars().any(|mark| {
            matches!(
                mark,
                '\u{200d}' | '\u{20e3}' | '\u{fe0e}' | '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}'
            )
        })
}
