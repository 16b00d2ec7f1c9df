//! The modes that only steer the emulator.

use crate::emulator::noted_modes::NotedModes;
use crate::emulator::reverse_wrap::ReverseWrap;

/// The modes that decide where text goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextModes {
    /// DECAWM: text goes on in the next row.
    pub(crate) autowrap: bool,
    /// DECOM: rows count from the top margin.
    pub(crate) origin: bool,
    /// IRM: printing shifts the rest of the row.
    pub(crate) insert: bool,
    /// DECLRMM: margins at the sides can be set.
    pub(crate) side_margins: bool,
    /// LNM: a line feed returns to column 0 as well.
    pub(crate) newline: bool,
    /// 41: HT and CHT do what a pending wrap asks for first.
    pub(crate) tab_wraps: bool,
    /// 45: BS and CUB go back to the row above, where its text went on in this one.
    pub(crate) reverse_wrap: bool,
    /// 1045: BS and CUB go on at the end of any row above.
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
    /// Returns where BS and CUB go on from the left margin, if anywhere.
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

/// The other modes that are no part of the picture.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Modes {
    /// 40: DECCOLM is heard, as far as it goes.
    pub(crate) column_switch: bool,
    /// DECCOLM, as it was set last.
    pub(crate) wide_columns: bool,
    /// DECNCSM: DECCOLM does not clear the screen.
    pub(crate) column_switch_keeps: bool,
    /// Title mode 0: titles are set in hexadecimal digits.
    pub(crate) hexadecimal_titles: bool,
    /// Modes without an effect.
    pub(crate) noted: NotedModes,
    /// 2026: the picture is being drawn and better not shown.
    pub(crate) synchronized_output: bool,
    /// 2031: a change of the user's colours is told.
    pub(crate) color_scheme_updates: bool,
    /// 2048: a change of the size is told.
    pub(crate) size_announcements: bool,
}
