//! Modes that are not part of the screen, because they influence only the emulator.

use crate::emulator::noted_modes::NotedModes;
use crate::emulator::reverse_wrap::ReverseWrap;

/// The modes that decide where text is printed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextModes {
    /// Whether text that reaches the right margin continues in the next row (DECAWM).
    pub(crate) autowrap: bool,
    /// Whether cursor addresses count from the top and left margins (DECOM).
    pub(crate) origin: bool,
    /// Whether printing moves the rest of the row to the right (IRM).
    pub(crate) insert: bool,
    /// Whether programs can set side margins (DECLRMM).
    pub(crate) side_margins: bool,
    /// Whether a line feed also returns to the left margin (LNM).
    pub(crate) newline: bool,
    /// Whether HT and CHT perform a pending wrap first, if autowrap is on (mode 41).
    pub(crate) tab_wraps: bool,
    /// Whether BS and CUB at the left margin move to the row above, if that row's text wrapped into this row (mode 45).
    pub(crate) reverse_wrap: bool,
    /// Whether BS and CUB at the left margin move to the row above in any case (mode 1045).
    pub(crate) extended_reverse_wrap: bool,
}

impl Default for TextModes {
    fn default() -> Self {
        Self {
            autowrap: true,
            origin: false,
            insert: false,
            side_margins: false,
            newline: false,
            tab_wraps: false,
            reverse_wrap: false,
            extended_reverse_wrap: false,
        }
    }
}

impl TextModes {
    /// Returns how far BS and CUB continue at the left margin. `None` if they stop there, as without autowrap.
    pub(crate) const fn reverse_wrap(&self) -> Option<ReverseWrap> {
        if !self.autowrap {
            None
        } else if self.extended_reverse_wrap {
            Some(ReverseWrap::Anywhere)
        } else if self.reverse_wrap {
            Some(ReverseWrap::WithinLine)
        } else {
            None
        }
    }
}

/// The modes that are neither part of the screen nor related to printed text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Modes {
    /// Whether DECCOLM is performed (mode 40).
    pub(crate) column_switch: bool,
    /// Whether the program has selected 132 columns (DECCOLM). The window keeps its width.
    pub(crate) wide_columns: bool,
    /// Whether DECCOLM keeps the screen's text (DECNCSM).
    pub(crate) column_switch_keeps: bool,
    /// Whether titles are set in hexadecimal digits (title mode 0 of XTSMTITLE).
    pub(crate) hexadecimal_titles: bool,
    /// Modes that are only stored, without an effect.
    pub(crate) noted: NotedModes,
    /// Whether a program is drawing a frame, so that the screen is incomplete (mode 2026).
    pub(crate) synchronized_output: bool,
    /// Whether the program wants a report when the user's colours change (mode 2031).
    pub(crate) color_scheme_updates: bool,
    /// Whether the program wants a report when the size in cells or pixels changes (mode 2048).
    pub(crate) size_announcements: bool,
}
