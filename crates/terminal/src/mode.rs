//! Modes: those the user's terminal must follow, and those that only steer the emulator.

/// Which mouse events are reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MouseReporting {
    /// None.
    #[default]
    Off,
    /// `CSI ? 9 h`.
    X10,
    /// `CSI ? 1000 h`.
    Normal,
    /// `CSI ? 1001 h`.
    Highlight,
    /// `CSI ? 1002 h`.
    ButtonMotion,
    /// `CSI ? 1003 h`.
    AnyMotion,
}

/// How mouse events are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MouseEncoding {
    /// Bytes offset by 32.
    #[default]
    Default,
    /// `CSI ? 1005 h`.
    Utf8,
    /// `CSI ? 1006 h`.
    Sgr,
    /// `CSI ? 1015 h`.
    Urxvt,
}

/// The modes that are no part of the picture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Modes {
    /// DECAWM: text goes on in the next row.
    pub(crate) autowrap: bool,
    /// DECOM: rows count from the top margin.
    pub(crate) origin: bool,
    /// IRM: printing shifts the rest of the row.
    pub(crate) insert: bool,
    /// LNM: a line feed returns to column 0 as well.
    pub(crate) newline: bool,
    /// DECCKM.
    pub(crate) application_cursor_keys: bool,
    /// DECNKM.
    pub(crate) application_keypad: bool,
    /// 40: DECCOLM is heard, as far as it goes.
    pub(crate) column_switch: bool,
    /// 1007: the wheel becomes cursor keys on the alternate screen.
    pub(crate) alternate_scroll: bool,
    /// 2026: the picture is being drawn and better not shown.
    pub(crate) synchronized_output: bool,
    /// 2031: a change of the user's colours is told.
    pub(crate) color_scheme_updates: bool,
    /// 2048: a change of the size is told.
    pub(crate) size_announcements: bool,
    /// DECSCUSR, 0 to 6.
    pub(crate) cursor_style: u16,
}

impl Default for Modes {
    fn default() -> Self {
        Self {
            autowrap: true,
            origin: false,
            insert: false,
            newline: false,
            application_cursor_keys: false,
            application_keypad: false,
            column_switch: false,
            alternate_scroll: false,
            synchronized_output: false,
            color_scheme_updates: false,
            size_announcements: false,
            cursor_style: 0,
        }
    }
}
