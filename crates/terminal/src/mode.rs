//! The modes that are part of the screen: the user's terminal must follow them.

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
