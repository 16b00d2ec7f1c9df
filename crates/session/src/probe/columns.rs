//! Measures how many columns the user's terminal gives to grapheme clusters, by the cursor's position after a sample.
//!
//! A sample is printed in the concealed rendition (SGR 8) in a blank row, and then erased. So the user does not see it,
//! however the terminal draws it. Questions that some terminals print are asked in the same way.

use rove_terminal::{Cell, ClusterWidths, NewerChar, Screen, may_be_newer};

/// A grapheme cluster to print for a measurement. A terminal that gives this cluster a number of columns listed in
/// `columns` counts clusters of `kinds` as one character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    text: &'static str,
    columns: &'static [u16],
    kinds: ClusterWidths,
}

/// The clusters that are printed to measure the terminal's widths, in this order.
pub(super) const SAMPLES: [Sample; 8] = [
    // A woman and a microscope.
    Sample { text: "\u{1f469}\u{200d}\u{1f52c}", columns: &[2], kinds: ClusterWidths::JOINED },
    // A thumb and a colour of skin.
    Sample { text: "\u{1f44d}\u{1f3fd}", columns: &[2], kinds: ClusterWidths::MODIFIERS },
    // A regional indicator: half of a flag emoji.
    Sample { text: "\u{1f1e9}", columns: &[2], kinds: ClusterWidths::FLAGS },
    // A heart, to be shown in red.
    Sample { text: "\u{2764}\u{fe0f}", columns: &[2], kinds: ClusterWidths::EMOJI_SELECTOR },
    // A watch, to be shown as text.
    Sample { text: "\u{231a}\u{fe0e}", columns: &[1], kinds: ClusterWidths::TEXT_SELECTOR },
    // Devanagari: three consonants in one syllable, and then a consonant with a spacing vowel mark.
    Sample {
        text: "\u{915}\u{94d}\u{937}\u{94d}\u{92f}",
        columns: &[2],
        kinds: ClusterWidths::SYLLABLES,
    },
    Sample { text: "\u{915}\u{93e}", columns: &[1], kinds: ClusterWidths::MARKS },
    // A letter and a colour of skin.
    Sample { text: "a\u{1f3fb}", columns: &[1, 2], kinds: ClusterWidths::BARE_MODIFIERS },
];

/// Smallest width of a window in which samples are printed, in columns, so that no sample wraps.
const COLUMNS_MIN: u16 = 10;

/// Returns the lowest blank row below the top row. `None` if no row is blank, or the screen is too narrow for samples.
pub(crate) fn blank_row(screen: &Screen) -> Option<u16> {
    let is_blank = |row: &u16| {
        let row = screen.row(*row);
        row.is_some_and(|row| row.cells().iter().all(|cell| *cell == Cell::default()))
    };
    let size = screen.size();
    (1..size.rows()).rev().find(|row| size.columns() >= COLUMNS_MIN && is_blank(row))
}

/// Returns the characters on the screen that rove's width table lacks, and that a newer Unicode version may make wide.
pub(super) fn newer_chars(screen: &Screen) -> impl Iterator<Item = NewerChar> {
    let rows = (0..screen.size().rows()).filter_map(|row| screen.row(row));
    rows.flat_map(|row| row.cells())
        .filter_map(|cell| cell.base)
        .filter(|base| may_be_newer(*base))
        .filter_map(NewerChar::new)
}

/// Returns the bytes that print `text` concealed, ask for the cursor's position after it, and erase it.
pub(super) fn question(text: &str, blank_row: u16) -> Vec<u8> {
    concealed(&format!("{text}\x1b[6n"), blank_row)
}

/// Returns the bytes that write `text` concealed in a blank row, and erase whatever the terminal shows of it.
pub(super) fn concealed(text: &str, blank_row: u16) -> Vec<u8> {
    let row = blank_row + 1;
    format!("\x1b7\x1b[{row}H\x1b[m\x1b[8m{text}\x1b[m\x1b[{row}H\x1b[K\x1b8").into_bytes()
}

impl Sample {
    /// Returns the bytes that ask for the sample's width; empty if no row is blank.
    pub(super) fn question(self, blank_row: Option<u16>) -> Vec<u8> {
        blank_row.map(|row| question(self.text, row)).unwrap_or_default()
    }

    /// Returns the kinds of clusters that the terminal counts as one character, according to the cursor's position
    /// after this sample. `None` for row 1, because function keys send the same bytes as a report of that row.
    pub(super) fn read(self, row: u16, column: u16) -> Option<ClusterWidths> {
        let is_one = column.checked_sub(1).is_some_and(|columns| self.columns.contains(&columns));
        (row > 1).then_some(if is_one { self.kinds } else { ClusterWidths::CODE_POINTS })
    }
}
