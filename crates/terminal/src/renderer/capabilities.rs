//! What a program knows of the user's terminal.

use crate::cluster_widths::ClusterWidths;
use crate::display::{Dialect, History, Repertoire};
use crate::screen::Screen;

/// What the user's terminal can do, read from terminfo and the environment by the program, and learnt
/// from its answers. The default is a terminal that can do nothing beyond a stock client's screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalCapabilities {
    /// `ech`: erasing characters without moving.
    pub erase_characters: bool,
    /// `bce`: erasing paints the current background.
    pub background_color_erase: bool,
    /// The graphic renditions it knows.
    pub repertoire: Repertoire,
    /// Whether it takes operating system commands: copied text is passed on only then.
    pub operating_system_commands: bool,
    /// Whether titles may be set (by the terminal's name).
    pub titles: bool,
    /// Whether colours may be set (by the terminal's name).
    pub colors: bool,
    /// Whether a working directory may be told (OSC 7).
    pub directories: bool,
    /// Whether it shows a bar of progress (OSC 9;4), which others take for a notification.
    pub progress: bool,
    /// Put in front of window titles, such as `[rove] `.
    pub title_prefix: String,
    /// Whether a frame is bracketed by mode 2026, so that it appears at once.
    pub synchronized_output: bool,
    /// `smcup`: goes to the alternate screen; empty where there is none.
    pub enter: Vec<u8>,
    /// `rmcup`: leaves it.
    pub leave: Vec<u8>,
    /// Whether the session lives on the alternate screen. Otherwise it goes there only while the
    /// program does, and its lines go where the terminal's history keeps them.
    pub init: bool,
    /// Whether the lines that scroll off at the host are to go there, those never shown included, and
    /// nothing else. With `init`, the session moves to the normal screen with the first of them.
    pub scrollback: bool,
    /// `Ss`: whether the cursor's style can be set.
    pub cursor_styles: bool,
    /// Whether it speaks the keyboard protocol of kitty.
    pub kitty_keyboard: bool,
    /// Whether it knows modifyOtherKeys.
    pub modify_other_keys: bool,
    /// Whether it can report the mouse in pixels (mode 1016).
    pub pixel_mouse: bool,
    /// Its own setting of alternate scroll (mode 1007); unknown, it is taken for set.
    pub alternate_scroll: Option<bool>,
    /// Which clusters it counts as one, as measured.
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

    /// Returns whether it makes half of a flag wide, and the screen does not: a stock server counts code points.
    const fn has_wide_flags(&self, screen: &Screen) -> bool {
        self.cluster_widths.contains(ClusterWidths::FLAGS)
            && !screen.cluster_widths().contains(ClusterWidths::FLAGS)
    }

    /// Returns whether the terminal itself turns the wheel into cursor keys.
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
