//! Modes: those the user's terminal must follow, and those that only steer the emulator.

use crate::emulator::Emulator;

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
    /// 1007: the wheel becomes cursor keys on the alternate screen.
    pub(crate) alternate_scroll: bool,
    /// 2026: the picture is being drawn and better not shown.
    pub(crate) synchronized_output: bool,
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
            alternate_scroll: false,
            synchronized_output: false,
            cursor_style: 0,
        }
    }
}

impl Emulator {
    /// Sets or resets an ANSI mode.
    pub(crate) fn set_ansi_mode(&mut self, mode: u16, set: bool) {
        match mode {
            4 => self.modes.insert = set,
            20 => self.modes.newline = set,
            _ => {}
        }
    }

    /// Returns whether an ANSI mode is set; `None` if it is unknown.
    pub(crate) fn ansi_mode(&self, mode: u16) -> Option<bool> {
        match mode {
            4 => Some(self.modes.insert),
            20 => Some(self.modes.newline),
            _ => None,
        }
    }

    /// Sets or resets a DEC private mode.
    pub(crate) fn set_private_mode(&mut self, mode: u16, set: bool) {
        match mode {
            1 => self.modes.application_cursor_keys = set,
            5 => self.screen.reverse_video = set,
            6 => {
                self.modes.origin = set;
                self.move_to(0, 0);
            }
            7 => self.modes.autowrap = set,
            25 => self.screen.cursor.visible = set,
            47 => self.show_alternate(set),
            66 => self.modes.application_keypad = set,
            1004 => self.screen.focus_reporting = set,
            1007 => self.modes.alternate_scroll = set,
            1047 => {
                if !set && self.alternate_shown {
                    self.erase_display(2);
                }
                self.show_alternate(set);
            }
            1048 if set => self.save_cursor(),
            1048 => self.restore_cursor(),
            1049 if set => {
                if !self.alternate_shown {
                    self.save_cursor();
                    self.show_alternate(true);
                }
                self.erase_display(2);
            }
            1049 => {
                self.show_alternate(false);
                self.restore_cursor();
            }
            2004 => self.screen.bracketed_paste = set,
            2026 => self.modes.synchronized_output = set,
            _ => self.set_mouse_mode(mode, set),
        }
    }

    /// Mouse modes exclude each other; resetting any of them turns all of a kind off.
    fn set_mouse_mode(&mut self, mode: u16, set: bool) {
        if let Some(reporting) = mouse_reporting(mode) {
            self.screen.mouse_reporting = if set { reporting } else { MouseReporting::Off };
        } else if let Some(encoding) = mouse_encoding(mode) {
            self.screen.mouse_encoding = if set { encoding } else { MouseEncoding::Default };
        }
    }

    /// Returns whether a DEC private mode is set; `None` if it is unknown.
    pub(crate) fn private_mode(&self, mode: u16) -> Option<bool> {
        Some(match mode {
            1 => self.modes.application_cursor_keys,
            5 => self.screen.reverse_video,
            6 => self.modes.origin,
            7 => self.modes.autowrap,
            25 => self.screen.cursor.visible,
            47 | 1047 | 1049 => self.alternate_shown,
            66 => self.modes.application_keypad,
            1004 => self.screen.focus_reporting,
            1007 => self.modes.alternate_scroll,
            2004 => self.screen.bracketed_paste,
            2026 => self.modes.synchronized_output,
            _ => match (mouse_reporting(mode), mouse_encoding(mode)) {
                (Some(reporting), _) => self.screen.mouse_reporting == reporting,
                (_, Some(encoding)) => self.screen.mouse_encoding == encoding,
                _ => return None,
            },
        })
    }
}

fn mouse_reporting(mode: u16) -> Option<MouseReporting> {
    Some(match mode {
        9 => MouseReporting::X10,
        1000 => MouseReporting::Normal,
        1001 => MouseReporting::Highlight,
        1002 => MouseReporting::ButtonMotion,
        1003 => MouseReporting::AnyMotion,
        _ => return None,
    })
}

fn mouse_encoding(mode: u16) -> Option<MouseEncoding> {
    Some(match mode {
        1005 => MouseEncoding::Utf8,
        1006 => MouseEncoding::Sgr,
        1015 => MouseEncoding::Urxvt,
        _ => return None,
    })
}
