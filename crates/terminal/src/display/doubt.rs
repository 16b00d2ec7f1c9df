//! Characters whose width may differ between terminals, or between the two ends of a session.

use crate::cluster_widths::{ZERO_WIDTH_JOINER, is_modifier, is_regional, is_selector};
use crate::newer::may_be_newer;
use crate::screen::cell::Cell;
use crate::screen::row::Row;
use crate::width::char_width;

/// Returns whether `c` is listed as a character to which all Unicode versions and terminals in use give the same width.
///
/// After any other character the cursor is positioned absolutely, because the receiver's C library may be years older
/// or newer. The list contains the blocks that were complete in Unicode 11 (2018).
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

/// Returns whether real terminals may differ in the width of a cell with `base` and `marks`. Many terminals draw flags,
/// keycaps, and emoji with a modifier, joiner or selector as one picture. Older terminals lack new characters.
fn clusters(base: Option<char>, marks: &str) -> bool {
    base.is_some_and(|base| is_regional(base) || is_modifier(base) || may_be_newer(base))
        || marks.chars().any(|mark| {
            matches!(mark, ZERO_WIDTH_JOINER | '\u{20e3}') || is_selector(mark) || is_modifier(mark)
        })
}

/// Returns whether a cell's width differs from that of its base character, or any of its marks has a width.
pub(super) fn is_cluster(cell: &Cell, marks: &str) -> bool {
    cell.base.is_some_and(|base| char_width(base) != cell.width())
        || marks.chars().any(|mark| char_width(mark) > 0)
}

/// Returns whether a cell is narrower than its base character is by itself.
pub(super) fn is_narrowed(cell: &Cell) -> bool {
    cell.base.is_some_and(|base| char_width(base) > cell.width())
}

/// Returns the first column of a row that terminals may draw differently, or the row's width if they agree.
pub(super) fn first_cluster(row: &Row) -> u16 {
    let is_cluster = |(cell, column): &(&Cell, u16)| {
        let marks = if cell.combined { row.marks(*column) } else { "" };
        clusters(cell.base, marks) || is_cluster(cell, marks)
    };
    let mut cells = row.cells.iter().zip(0..);
    match cells.find(is_cluster) {
        // The glyph may change the character on its left, as a skin tone does.
        Some((_, column)) if joins_previous(row, column) => previous_glyph(row, column),
        Some((_, column)) => column,
        None => row.columns(),
    }
}

/// Returns whether some terminals draw the glyph in `column` into the cells of the glyph on its left. On these
/// terminals, the glyph's own cells keep their old content.
pub(super) fn joins_previous(row: &Row, column: u16) -> bool {
    if column == 0 {
        return false;
    }
    let previous = previous_glyph(row, column);
    let (before, here) = (&row.cells[usize::from(previous)], &row.cells[usize::from(column)]);
    before.combined && row.marks(previous).ends_with(ZERO_WIDTH_JOINER)
        || before.base.is_some() && here.base.is_some_and(is_modifier)
        || before.base.is_some_and(is_regional) && here.base.is_some_and(is_regional)
}

/// Returns whether a terminal that wraps (with `clusters` or not) may draw the first glyph of `row` into the row above.
pub(super) fn joins_row_above(row: &Row, clusters: bool) -> bool {
    row.cells[0].base.is_some_and(|base| is_modifier(base) || clusters && !width_is_settled(base))
}

/// Returns the most columns by which a terminal may exceed rove's width of this cell. Each mark may add a column, and
/// so may a regional indicator (half of a flag emoji).
pub(super) fn surplus(cell: &Cell, marks: &str) -> u16 {
    let marks = u16::try_from(marks.chars().count()).expect("a cell has few marks");
    marks + u16::from(cell.base.is_some_and(is_regional))
}

/// Returns whether a terminal may give a cell fewer columns than rove does. Such a terminal has an older Unicode
/// version or supports clusters.
pub(super) const fn may_fall_short(cell: &Cell) -> bool {
    match cell.base {
        Some(base) if cell.wide => !is_wide_everywhere(base),
        // A terminal may give these signs and vowels no column, because they join a neighbouring character.
        Some(base) => matches!(base,
            '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}' | '\u{8e2}'
            | '\u{900}'..='\u{dff}' | '\u{1000}'..='\u{109f}' | '\u{1700}'..='\u{17ff}'
            | '\u{1900}'..='\u{1cff}' | '\u{a800}'..='\u{abff}' | '\u{ffa0}'
            | '\u{11000}'..='\u{11fff}' | '\u{1d165}'..='\u{1d172}'
        ),
        None => false,
    }
}

/// Returns whether a terminal may draw a narrow cell two columns wide. Such a terminal has a newer Unicode version, or
/// draws a lone regional indicator wide (`wide_flags`).
pub(super) fn may_be_wide(cell: &Cell, wide_flags: bool) -> bool {
    let is_doubtful = |base| may_be_newer(base) || wide_flags && is_regional(base);
    !cell.wide && cell.base.is_some_and(is_doubtful)
}

/// Returns whether a character is wide in every Unicode version that terminals use.
const fn is_wide_everywhere(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{3029}' | '\u{3030}'..='\u{303e}'
        | '\u{3041}'..='\u{3163}' | '\u{3165}'..='\u{3247}' | '\u{3250}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}' | '\u{ff01}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}'
        | '\u{20000}'..='\u{3fffd}'
    )
}

/// Returns the column of the glyph on the left of `column`, which must not be 0.
fn previous_glyph(row: &Row, column: u16) -> u16 {
    let at = usize::from(column);
    column - if at >= 2 && row.cells[at - 2].wide { 2 } else { 1 }
}
