//! The modes of a screen that the user's terminal must follow.

/// The mouse events that a program requests. The values are the numbers of the private modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MouseReporting {
    /// The program requests no mouse events.
    #[default]
    Off = 0,
    /// The program requests button presses only: `CSI ? 9 h`.
    X10 = 9,
    /// Button presses and releases: `CSI ? 1000 h`.
    Normal = 1000,
    /// Presses and releases, with the text between them highlighted by the terminal: `CSI ? 1001 h`.
    Highlight = 1001,
    /// Presses, releases and motion with a button held: `CSI ? 1002 h`.
    ButtonMotion = 1002,
    /// Presses, releases and all motion: `CSI ? 1003 h`.
    AnyMotion = 1003,
}

/// The form in which the terminal reports mouse events. The values are the numbers of the private modes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MouseEncoding {
    /// Each coordinate is a byte, offset by 32.
    #[default]
    Default = 0,
    /// Coordinates as UTF-8 characters: `CSI ? 1005 h`.
    Utf8 = 1005,
    /// Decimal numbers after `CSI <`: `CSI ? 1006 h`.
    Sgr = 1006,
    /// Decimal numbers after `CSI`, as urxvt sends them: `CSI ? 1015 h`.
    Urxvt = 1015,
    /// Like mode 1006, but in pixels instead of cells: `CSI ? 1016 h`.
    SgrPixels = 1016,
}

/// The input modes that the user's terminal must follow, and that stock Mosh transfers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputModes {
    /// Whether pasted text must be bracketed.
    pub bracketed_paste: bool,
    /// Whether gaining and losing the focus must be reported.
    pub focus_reporting: bool,
    /// The mouse events that must be reported.
    pub mouse_reporting: MouseReporting,
    /// The form in which mouse events must be reported.
    pub mouse_encoding: MouseEncoding,
}

/// The modes that the user's terminal must follow, but that stock Mosh does not transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RichModes {
    /// The cursor's style by its number in DECSCUSR, 0 to 6. 0 is the terminal's own style.
    pub cursor_style: u8,
    /// Whether cursor keys send their application form (DECCKM).
    pub application_cursor_keys: bool,
    /// Whether the keypad sends its application form (DECNKM).
    pub application_keypad: bool,
    /// Whether the program uses the alternate screen. A replica has the same cells for both screens.
    pub alternate_screen: bool,
    /// Whether the wheel sends cursor keys on the alternate screen (mode 1007). `None` if no program has set this.
    pub alternate_scroll: Option<bool>,
    /// The active flags of kitty's keyboard protocol, 0 to 31.
    pub kitty_keyboard: u8,
    /// The level of xterm's modifyOtherKeys, 0 to 2.
    pub modify_other_keys: u8,
}

/// The highest number of a cursor style (DECSCUSR). Source: xterm; 5 and 6 are bars.
pub(crate) const CURSOR_STYLE_MAX: u16 = 6;

/// The bits of all flags of kitty's keyboard protocol. Source: the protocol's specification, "Progressive enhancement".
pub(crate) const KITTY_FLAGS_MAX: u8 = 31;

/// The highest level of xterm's modifyOtherKeys. Source: xterm, XTMODKEYS.
pub(crate) const MODIFY_OTHER_KEYS_MAX: u16 = 2;
