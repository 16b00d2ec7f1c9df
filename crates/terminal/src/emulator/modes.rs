//! Modes that are not part of the picture: they steer the emulator only.

use crate::emulator::noted_modes::NotedModes;
use crate::emulator::reverse_wrap::ReverseWrap;

/// The modes that decide where text goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextModes {
    /// DECAWM: text that reaches the right margin goes on in the next row.
    pub(crate) autowrap: bool,
    /// DECOM: addresses count from the margins.
    pub(crate) origin: bool,
    /// IRM: printing moves the rest of the row to the right.
    pub(crate) insert: bool,
    /// DECLRMM: programs can set side margins.
    pub(crate) side_margins: bool,
    /// LNM: a line feed returns to column 0 as well.
    pub(crate) newline: bool,
    /// 41: HT and CHT perform a pending wrap first.
    pub(crate) tab_wraps: bool,
    /// 45: BS and CUB at the left margin go to the row above, if its text wrapped into this row.
    pub(crate) reverse_wrap: bool,
    /// 1045: BS and CUB at the left margin go to the row above, wrapped or not.
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
    /// Returns how BS and CUB continue at the left margin; `None` if they stop.
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

/// The other modes that are not part of the picture.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Modes {
    /// 40: DECCOLM is performed.
    pub(crate) column_switch: bool,
    /// DECCOLM: 132 columns, as the program set it. The window keeps its width.
    pub(crate) wide_columns: bool,
    /// DECNCSM: DECCOLM does not clear the screen.
    pub(crate) column_switch_keeps: bool,
    /// Title mode 0: titles are set in hexadecimal digits.
    pub(crate) hexadecimal_titles: bool,
    /// Modes that are stored and have no effect.
    pub(crate) noted: NotedModes,
    /// 2026: a program is drawing a frame, so the picture is incomplete.
    pub(crate) synchronized_output: bool,
    /// 2031: the program wants a report when the user's colours change.
    pub(crate) color_scheme_updates: bool,
    /// 2048: the program wants a report when the size changes.
    pub(crate) size_announcements: bool,
}
