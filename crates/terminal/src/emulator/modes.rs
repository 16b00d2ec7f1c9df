//! The modes that only steer the emulator.

/// The modes that are no part of the picture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Modes {
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
    /// 40: DECCOLM is heard, as far as it goes.
    pub(crate) column_switch: bool,
    /// 2026: the picture is being drawn and better not shown.
    pub(crate) synchronized_output: bool,
    /// 2031: a change of the user's colours is told.
    pub(crate) color_scheme_updates: bool,
    /// 2048: a change of the size is told.
    pub(crate) size_announcements: bool,
}

impl Default for Modes {
    fn default() -> Self {
        Self {
            autowrap: true,
            origin: false,
            insert: false,
            side_margins: false,
            newline: false,
            column_switch: false,
            synchronized_output: false,
            color_scheme_updates: false,
            size_announcements: false,
        }
    }
}
