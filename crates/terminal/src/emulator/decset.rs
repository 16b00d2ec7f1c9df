//! Switching modes: SM, RM, DECSET and DECRST, and what DECRQM asks.

use crate::emulator::Emulator;
use crate::emulator::region::Region;
use crate::screen::mode::{MouseEncoding, MouseReporting};

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
            1 => self.screen.rich.application_cursor_keys = set,
            3 if self.modes.column_switch => self.switch_columns(),
            5 => self.screen.reverse_video = set,
            6 => {
                self.modes.origin = set;
                self.move_to(0, 0);
            }
            7 => self.modes.autowrap = set,
            25 => self.screen.cursor.visible = set,
            40 => self.modes.column_switch = set,
            // A replica has but one picture, and the far end sends what becomes of it.
            47 | 1047 | 1049 if !self.is_host() => self.screen.rich.alternate_screen = set,
            47 => self.show_alternate(set),
            66 => self.screen.rich.application_keypad = set,
            69 => self.set_side_margin_mode(set),
            1004 => self.screen.focus_reporting = set,
            1007 => self.screen.rich.alternate_scroll = Some(set),
            1047 => {
                if !set && self.screen.rich.alternate_screen {
                    self.erase_display(2);
                }
                self.show_alternate(set);
            }
            1048 if set => self.save_cursor(),
            1048 => self.restore_cursor(),
            1049 if set => {
                if !self.screen.rich.alternate_screen {
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
            2031 => self.modes.color_scheme_updates = set,
            2048 => {
                self.modes.size_announcements = set;
                self.announce_size();
            }
            _ => self.set_mouse_mode(mode, set),
        }
    }

    /// DECCOLM, where mode 40 allows it: the window keeps the width its user gave it, and the rest is
    /// done as if it had not.
    fn switch_columns(&mut self) {
        self.region = Region::full(self.screen.size);
        self.modes.side_margins = false;
        self.erase_display(2);
        self.set_cursor(0, 0);
    }

    /// Mouse modes exclude each other; resetting any of them turns all of a kind off.
    fn set_mouse_mode(&mut self, mode: u16, set: bool) {
        if let Some(reporting) = mouse_reporting(mode) {
            self.screen.mouse_reporting = if set { reporting } else { MouseReporting::Off };
        } else if let Some(encoding) = self.mouse_encoding(mode) {
            self.screen.mouse_encoding = if set { encoding } else { MouseEncoding::Default };
        }
    }

    /// Returns whether a DEC private mode is set; `None` if it is unknown.
    pub(crate) fn private_mode(&self, mode: u16) -> Option<bool> {
        Some(match mode {
            1 => self.screen.rich.application_cursor_keys,
            5 => self.screen.reverse_video,
            6 => self.modes.origin,
            7 => self.modes.autowrap,
            25 => self.screen.cursor.visible,
            40 => self.modes.column_switch,
            47 | 1047 | 1049 => self.screen.rich.alternate_screen,
            66 => self.screen.rich.application_keypad,
            69 => self.modes.side_margins,
            1004 => self.screen.focus_reporting,
            // Untouched, it is the user's terminal that decides: nearly all have it on.
            1007 => self.screen.rich.alternate_scroll.unwrap_or(true),
            2004 => self.screen.bracketed_paste,
            2026 => self.modes.synchronized_output,
            2031 => self.modes.color_scheme_updates,
            2048 => self.modes.size_announcements,
            _ => match (mouse_reporting(mode), self.mouse_encoding(mode)) {
                (Some(reporting), _) => self.screen.mouse_reporting == reporting,
                (_, Some(encoding)) => self.screen.mouse_encoding == encoding,
                _ => return None,
            },
        })
    }

    /// Pixels are of no use to a program on a terminal that has none to report.
    const fn mouse_encoding(&self, mode: u16) -> Option<MouseEncoding> {
        Some(match mode {
            1005 => MouseEncoding::Utf8,
            1006 => MouseEncoding::Sgr,
            1015 => MouseEncoding::Urxvt,
            1016 if !self.is_host() || self.user_terminal.pixel_mouse => MouseEncoding::SgrPixels,
            _ => return None,
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
