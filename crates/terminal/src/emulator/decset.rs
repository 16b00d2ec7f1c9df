//! Modes: programs set and reset them (SM, RM, DECSET, DECRST), query them (DECRQM) and save them (XTSAVE, XTRESTORE).

use crate::emulator::Emulator;
use crate::emulator::grid::{Grid, Role};
use crate::emulator::level::Level;
use crate::emulator::noted_modes::Mode::{self, Ansi, Private};
use crate::emulator::noted_modes::fixed;
use crate::emulator::region::Region;
use crate::emulator::window::has_size_announcements;
use crate::screen::mode::{MouseEncoding, MouseReporting};

/// The private mode in which each cluster counts as one character. Programs cannot change this mode, because it depends
/// on the user's terminal. Source: the "terminal unicode core" proposal that Contour, Ghostty and others follow.
const CLUSTERS: u16 = 2027;

impl Emulator {
    /// Returns the flag of a mode. `None` if the mode is unknown, or does more than set a flag.
    fn flag(&mut self, mode: Mode) -> Option<&mut bool> {
        let Self { grid: Grid { modes, screen, role, .. }, level, .. } = self;
        let is_host = *role == Role::Host;
        Some(match mode {
            Ansi(4) => &mut modes.insert,
            Ansi(20) => &mut modes.newline,
            Private(1) => &mut screen.rich.application_cursor_keys,
            Private(5) => &mut screen.reverse_video,
            Private(7) => &mut modes.autowrap,
            Private(25) => &mut screen.cursor.visible,
            Private(40) => &mut self.modes.column_switch,
            // Stock Mosh lacks modes 41, 45 and 1045, and a replica must end in the same state as stock Mosh.
            Private(41) if is_host => &mut modes.tab_wraps,
            Private(45) if is_host => &mut modes.reverse_wrap,
            Private(1045) if is_host => &mut modes.extended_reverse_wrap,
            Private(66) => &mut screen.rich.application_keypad,
            Private(95) if *level >= Level::VT500 => &mut self.modes.column_switch_keeps,
            Private(1004) => &mut screen.input.focus_reporting,
            Private(2004) => &mut screen.input.bracketed_paste,
            Private(2026) => &mut self.modes.synchronized_output,
            Private(2031) => &mut self.modes.color_scheme_updates,
            _ => return None,
        })
    }

    pub(crate) fn set_ansi_mode(&mut self, mode: u16, set: bool) {
        match self.flag(Ansi(mode)) {
            Some(flag) => *flag = set,
            None => self.modes.noted.set(Ansi(mode), set),
        }
    }

    pub(crate) fn set_private_mode(&mut self, mode: u16, set: bool) {
        if let Some(flag) = self.flag(Private(mode)) {
            *flag = set;
            return;
        }
        match mode {
            3 if self.modes.column_switch => self.switch_columns(set),
            6 => {
                self.grid.modes.origin = set;
                self.grid.move_to(0, 0);
            }
            // A replica has only one set of cells. Diffs draw whichever screen the host displays.
            47 | 1047 | 1049 if !self.grid.is_host() => {
                self.grid.screen.rich.alternate_screen = set
            }
            47 => self.show_alternate(set),
            69 if self.level >= Level::VT400 => self.grid.set_side_margin_mode(set),
            1007 => self.grid.screen.rich.alternate_scroll = Some(set),
            1047 => {
                if !set && self.grid.screen.rich.alternate_screen {
                    self.grid.clear_screen();
                }
                self.show_alternate(set);
            }
            1048 if set => self.save_cursor(),
            1048 => self.restore_cursor(),
            1049 if set => {
                if !self.grid.screen.rich.alternate_screen {
                    self.save_cursor();
                    self.show_alternate(true);
                }
                self.grid.clear_screen();
            }
            1049 => {
                self.show_alternate(false);
                self.restore_cursor();
            }
            2048 if has_size_announcements(&self.user_terminal) => {
                self.modes.size_announcements = set;
                self.announce_size();
            }
            _ => {
                self.modes.noted.set(Private(mode), set);
                self.set_mouse_mode(mode, set);
            }
        }
    }

    /// Performs DECCOLM, which mode 40 allows: resets the margins, clears the screen if DECNCSM is not set, and moves
    /// the cursor home. The width stays, because the user chose it.
    fn switch_columns(&mut self, wide: bool) {
        self.modes.wide_columns = wide;
        self.grid.region = Region::full(self.grid.screen.size);
        self.grid.modes.side_margins = false;
        if !self.modes.column_switch_keeps {
            self.grid.clear_screen();
        }
        self.grid.set_cursor(0, 0);
    }

    /// Saves the value of a private mode (XTSAVE). Ignores unknown modes. A replica saves nothing.
    pub(crate) fn save_private_mode(&mut self, mode: u16) {
        if !self.grid.is_host() {
            // Diffs do not depend on one another, so a replica saves nothing.
        } else if mode == 1048 {
            self.save_cursor();
        } else if mode == 1007 {
            self.saved_modes.alternate_scroll = self.grid.screen.rich.alternate_scroll;
        } else if mouse_reporting(mode).is_some() {
            self.saved_modes.mouse_reporting = self.grid.screen.input.mouse_reporting;
        } else if self.mouse_encoding(mode).is_some() {
            self.saved_modes.mouse_encoding = self.grid.screen.input.mouse_encoding;
        } else if let Some(set) = self.private_mode(mode) {
            self.saved_modes.save(mode, set);
        }
    }

    /// Restores the saved value of a private mode (XTRESTORE), or its initial value if none was saved. A replica only
    /// resets mode 1007 to its initial value.
    pub(crate) fn restore_private_mode(&mut self, mode: u16) {
        if mode == 1007 {
            self.grid.screen.rich.alternate_scroll = self.saved_modes.alternate_scroll;
        } else if !self.grid.is_host() {
            // Diffs restore no other mode.
        } else if mode == 1048 {
            self.restore_cursor();
        } else if mouse_reporting(mode).is_some() {
            self.grid.screen.input.mouse_reporting = self.saved_modes.mouse_reporting;
        } else if self.mouse_encoding(mode).is_some() {
            self.grid.screen.input.mouse_encoding = self.saved_modes.mouse_encoding;
        } else if let Some(is_set) = self.private_mode(mode)
            && let set = self.saved_modes.saved(mode)
            && set != is_set
        {
            match mode {
                // The saved value states which screen was displayed, but does not include its text.
                1047 | 1049 => self.show_alternate(set),
                _ => self.set_private_mode(mode, set),
            }
        }
    }

    /// Reports a mode: 0 unknown, 1 set, 2 reset, 3 always set, 4 always reset (DECRQM; ANSI modes only from VT300 on).
    pub(crate) fn report_mode(&mut self, mode: Mode) {
        let (mark, number, state) = match mode {
            Private(number) => ("?", number, self.private_mode(number)),
            Ansi(_) if self.level < Level::VT300 => return,
            Ansi(number) => {
                let flag = self.flag(mode).map(|flag| *flag);
                ("", number, flag.or_else(|| self.modes.noted.get(mode)))
            }
        };
        let fixed = match mode {
            Private(CLUSTERS) => Some(self.user_terminal.cluster_widths.has_mode()),
            mode => fixed(mode),
        };
        let value = match (state, fixed) {
            (Some(true), _) => 1,
            (Some(false), _) => 2,
            (None, Some(true)) => 3,
            (None, Some(false)) => 4,
            (None, None) => 0,
        };
        self.answers.push(&format!("\x1b[{mark}{number};{value}$y"));
    }

    /// Sets or resets a mouse mode. At most one reporting mode and one encoding mode are set at a time. Resetting any
    /// reporting mode resets the one that is set. The same holds for encoding modes.
    fn set_mouse_mode(&mut self, mode: u16, set: bool) {
        if let Some(reporting) = mouse_reporting(mode) {
            self.grid.screen.input.mouse_reporting =
                if set { reporting } else { MouseReporting::Off };
        } else if let Some(encoding) = self.mouse_encoding(mode) {
            self.grid.screen.input.mouse_encoding =
                if set { encoding } else { MouseEncoding::Default };
        }
    }

    /// Returns whether a DEC private mode is set. `None` if the emulator does not support the mode, or if programs
    /// cannot change it ([`fixed`], [`CLUSTERS`]).
    fn private_mode(&mut self, mode: u16) -> Option<bool> {
        if let Some(flag) = self.flag(Private(mode)) {
            return Some(*flag);
        }
        Some(match mode {
            // DECANM: sequences are always those of ANSI, never those of a VT52.
            2 => true,
            3 => self.modes.wide_columns,
            6 => self.grid.modes.origin,
            47 | 1047 | 1049 => self.grid.screen.rich.alternate_screen,
            // A program can restore a saved cursor at any time.
            1048 => true,
            69 if self.level >= Level::VT400 => self.grid.modes.side_margins,
            // Until a program sets the mode, the user's terminal decides, and nearly all terminals have it set.
            1007 => self.grid.screen.rich.alternate_scroll.unwrap_or(true),
            2048 if has_size_announcements(&self.user_terminal) => self.modes.size_announcements,
            _ => match (mouse_reporting(mode), self.mouse_encoding(mode)) {
                (Some(reporting), _) => self.grid.screen.input.mouse_reporting == reporting,
                (_, Some(encoding)) => self.grid.screen.input.mouse_encoding == encoding,
                _ => return self.modes.noted.get(Private(mode)),
            },
        })
    }

    /// Returns the mouse encoding that a mode selects. `None` for other modes. In a host terminal, which serves
    /// programs, mode 1016 requires a user's terminal that reports pixels.
    fn mouse_encoding(&self, mode: u16) -> Option<MouseEncoding> {
        use MouseEncoding::{Sgr, SgrPixels, Urxvt, Utf8};
        let has_pixels = !self.grid.is_host() || self.user_terminal.pixel_mouse;
        let known = [Utf8, Sgr, Urxvt, SgrPixels].into_iter().find(|it| *it as u16 == mode);
        known.filter(|encoding| *encoding != SgrPixels || has_pixels)
    }
}

fn mouse_reporting(mode: u16) -> Option<MouseReporting> {
    use MouseReporting::{AnyMotion, ButtonMotion, Highlight, Normal, X10};
    [X10, Normal, Highlight, ButtonMotion, AnyMotion].into_iter().find(|it| *it as u16 == mode)
}
