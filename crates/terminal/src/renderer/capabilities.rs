//! The abilities of the user's terminal.

use crate::cluster_widths::ClusterWidths;
use crate::display::{Dialect, History, Repertoire};
use crate::screen::Screen;

/// The abilities of the user's terminal, as far as terminfo, the environment and its answers tell them. The default
/// terminal can show no more than a stock client's screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalCapabilities {
    /// `ech`: whether it can erase characters without moving the cursor.
    pub erase_characters: bool,
    /// `bce`: whether erased cells get the current background.
    pub background_color_erase: bool,
    /// The graphic renditions that it can show.
    pub repertoire: Repertoire,
    /// Whether it understands operating system commands. Otherwise copied text is not passed on.
    pub operating_system_commands: bool,
    /// Whether titles may be set. The terminal's name decides this.
    pub titles: bool,
    /// Whether colours may be set. The terminal's name decides this.
    pub colors: bool,
    /// Whether the working directory may be reported (OSC 7).
    pub directories: bool,
    /// Whether it shows a progress bar (OSC 9;4). Other terminals would show a notification.
    pub progress: bool,
    /// The text in front of window titles, such as `[rove] `.
    pub title_prefix: String,
    /// Whether frames are enclosed by mode 2026, so that each appears at once.
    pub synchronized_output: bool,
    /// `smcup`: the sequence to the alternate screen. It is empty if there is none.
    pub enter: Vec<u8>,
    /// `rmcup`: the sequence back to the normal screen.
    pub leave: Vec<u8>,
    /// Whether the session uses the alternate screen. Otherwise it goes there only while the program does, and the
    /// terminal's history keeps its lines.
    pub init: bool,
    /// Whether all lines that scroll off at the host go to the terminal's history, also those that were never shown, and
    /// no other rows. With `init`, the first of them moves the session to the normal screen.
    pub scrollback: bool,
    /// `Ss`: whether the cursor's style can be set.
    pub cursor_styles: bool,
    /// Whether it supports the keyboard protocol of kitty.
    pub kitty_keyboard: bool,
    /// Whether it supports modifyOtherKeys.
    pub modify_other_keys: bool,
    /// Whether it can report the mouse in pixels (mode 1016).
    pub pixel_mouse: bool,
    /// Its own setting of alternate scroll (mode 1007). If it is unknown, the renderer assumes that it is set.
    pub alternate_scroll: Option<bool>,
    /// The clusters that it counts as a character, as measured.
    pub cluster_widths: ClusterWidths,
}

impl TerminalCapabilities {
    /// Returns how a screen is drawn on this terminal.
    pub(super) const fn dialect(&self, screen: &Screen, history: History) -> Dialect {
        Dialect {
            replica: false,
            history,
            erase_characters: self.erase_characters,
            background_color_erase: self.background_color_erase,
            clusters: !screen.cluster_widths().is_code_points(),
            wide_flags: self.has_wide_flags(screen),
            repertoire: self.repertoire,
        }
    }

    /// Returns whether half of a flag is wide on the terminal, but not on the screen of a stock server.
    const fn has_wide_flags(&self, screen: &Screen) -> bool {
        self.cluster_widths.contains(ClusterWidths::FLAGS)
            && !screen.cluster_widths().contains(ClusterWidths::FLAGS)
    }

    /// Returns whether the wheel sends cursor keys on the alternate screen by the terminal's own setting.
    pub(super) fn has_alternate_scroll(&self) -> bool {
        self.alternate_scroll.unwrap_or(true)
    }

    /// Returns whether a frame drawn for `other` would look different.
    pub(super) fn draws_unlike(&self, other: &Self) -> bool {
        self.erase_characters != other.erase_characters
            || self.background_color_erase != other.background_color_erase
            || self.repertoire != other.repertoire
            || self.titles != other.titles
            || self.title_prefix != other.title_prefix
            || self.pixel_mouse != other.pixel_mouse
    }
}
