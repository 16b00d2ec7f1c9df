//! The modes that the user's terminal must follow.

/// The mouse events that are reported. The values are the numbers of the modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MouseReporting {
    /// No events.
    #[default]
    Off = 0,
    /// `CSI ? 9 h`.
    X10 = 9,
    /// `CSI ? 1000 h`.
    Normal = 1000,
    /// `CSI ? 1001 h`.
    Highlight = 1001,
    /// `CSI ? 1002 h`.
    ButtonMotion = 1002,
    /// `CSI ? 1003 h`.
    AnyMotion = 1003,
}

/// The form in which mouse events are reported. The values are the numbers of the modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MouseEncoding {
    /// Bytes offset by 32.
    #[default]
    Default = 0,
    /// `CSI ? 1005 h`.
    Utf8 = 1005,
    /// `CSI ? 1006 h`.
    Sgr = 1006,
    /// `CSI ? 1015 h`.
    Urxvt = 1015,
    /// `CSI ? 1016 h`: as 1006, but in pixels.
    SgrPixels = 1016,
}

/// The modes of a screen that a stock client has too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct InputModes {
    pub(crate) bracketed_paste: bool,
    pub(crate) focus_reporting: bool,
    pub(crate) mouse_reporting: MouseReporting,
    pub(crate) mouse_encoding: MouseEncoding,
}

/// The modes of a screen that a stock client does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RichModes {
    /// DECSCUSR, 0 to [`CURSOR_STYLE_MAX`].
    pub(crate) cursor_style: u8,
    /// DECCKM.
    pub(crate) application_cursor_keys: bool,
    /// DECNKM.
    pub(crate) application_keypad: bool,
    /// Whether the alternate screen is shown. A replica has a single picture for both.
    pub(crate) alternate_screen: bool,
    /// 1007: the wheel sends cursor keys on the alternate screen. `None` if no program has set it.
    pub(crate) alternate_scroll: Option<bool>,
    /// The flags of the keyboard protocol of kitty that are in force, 0 to [`KITTY_FLAGS_MAX`].
    pub(crate) kitty_keyboard: u8,
    /// `modifyOtherKeys`, 0 to [`MODIFY_OTHER_KEYS_MAX`].
    pub(crate) modify_other_keys: u8,
}

/// The last cursor style. Source: xterm, DECSCUSR: 5 and 6 are bars.
pub(crate) const CURSOR_STYLE_MAX: u16 = 6;

/// All flags of the keyboard protocol of kitty. Source: its specification, "Progressive enhancement".
pub(crate) const KITTY_FLAGS_MAX: u8 = 31;

/// The highest level of modifyOtherKeys. Source: xterm, XTMODKEYS.
pub(crate) const MODIFY_OTHER_KEYS_MAX: u16 = 2;
