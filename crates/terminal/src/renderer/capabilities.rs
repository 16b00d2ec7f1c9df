//! The capabilities of the user's terminal.

use crate::cluster_widths::ClusterWidths;
use crate::display::{Dialect, Functions, History, Repertoire};
use crate::screen::Screen;

/// The capabilities of the user's terminal, known from terminfo, the environment and the terminal's answers. By default
/// the terminal displays no more than a stock Mosh client does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalCapabilities {
    /// The control functions that the terminal has.
    pub functions: Functions,
    /// The graphic renditions (SGR) that the terminal can show.
    pub repertoire: Repertoire,
    /// The operating system commands (OSC) that may be sent to the terminal.
    pub osc: OscSupport,
    /// The text before window titles, such as `[rove] `.
    pub title_prefix: String,
    /// Whether the terminal supports mode 2026. The mode then encloses each frame, which thus appears as a whole.
    pub synchronized_output: bool,
    /// The sequences that enter and leave the alternate screen.
    pub alternate_screen: AlternateScreen,
    /// Whether the whole session is on the alternate screen. Otherwise this screen is used only for programs that
    /// request it, and the terminal's history keeps the session's lines.
    pub init: bool,
    /// Whether the terminal's history gets exactly the lines that scroll off at the host, even lines that never were on
    /// the user's screen. With `init`, the first such line moves the session to the normal screen.
    pub scrollback: bool,
    /// `Ss`: whether the cursor's style can be set (DECSCUSR).
    pub cursor_styles: bool,
    /// Whether the terminal supports kitty's keyboard protocol.
    pub kitty_keyboard: bool,
    /// Whether the terminal supports xterm's modifyOtherKeys.
    pub modify_other_keys: bool,
    /// Whether the terminal can report the mouse in pixels (mode 1016).
    pub pixel_mouse: bool,
    /// The terminal's own setting of alternate scroll (mode 1007). If it is unknown (`None`), it is assumed to be set.
    pub alternate_scroll: Option<bool>,
    /// The measured kinds of clusters (such as joined emoji) that the terminal draws as one character.
    pub cluster_widths: ClusterWidths,
}

/// The operating system commands (OSC) that may be sent to a terminal, judged by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OscSupport {
    /// Whether the terminal understands OSC at all. Otherwise copied text is not sent to it.
    pub any: bool,
    /// Whether the renderer may set window titles and the terminal's colours (OSC 4, 10 and others), and report the
    /// working directory (OSC 7). A terminal that reads titles from OSC also reads or ignores the other commands.
    pub window: bool,
    /// Whether the terminal displays a progress bar (OSC 9;4). Other terminals would display a notification.
    pub progress: bool,
}

impl OscSupport {
    /// All commands may be sent.
    pub const ALL: Self = Self { any: true, window: true, progress: true };
}

/// The sequences that enter and leave the alternate screen. Both are empty if the terminal has no such screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlternateScreen {
    /// The sequence that switches to the alternate screen (`smcup` in terminfo).
    pub enter: Vec<u8>,
    /// The sequence that switches back to the normal screen (`rmcup` in terminfo).
    pub leave: Vec<u8>,
}

impl AlternateScreen {
    /// Returns the sequences of xterm, which all current terminals understand.
    pub fn xterm() -> Self {
        Self { enter: b"\x1b[?1049h".to_vec(), leave: b"\x1b[?1049l".to_vec() }
    }
}

impl TerminalCapabilities {
    /// Returns how to draw `screen` on this terminal.
    pub(super) const fn dialect(&self, screen: &Screen, history: History) -> Dialect {
        Dialect {
            replica: false,
            history,
            functions: self.functions,
            clusters: !screen.cluster_widths().is_code_points(),
            wide_flags: self.has_wide_flags(screen),
            repertoire: self.repertoire,
        }
    }

    /// Returns whether a regional indicator (half of a flag emoji) is two columns wide on the terminal, but one column
    /// wide on `screen`. It is one column wide on a stock Mosh server.
    const fn has_wide_flags(&self, screen: &Screen) -> bool {
        self.cluster_widths.contains(ClusterWidths::FLAGS)
            && !screen.cluster_widths().contains(ClusterWidths::FLAGS)
    }

    /// Returns whether the terminal's own setting makes the wheel send cursor keys on the alternate screen (mode 1007).
    pub(super) fn has_alternate_scroll(&self) -> bool {
        self.alternate_scroll.unwrap_or(true)
    }

    /// Returns whether the same screen needs other bytes on this terminal than on `other`, so that a repaint is needed.
    pub(super) fn draws_unlike(&self, other: &Self) -> bool {
        self.functions != other.functions
            || self.repertoire != other.repertoire
            || self.osc.window != other.osc.window
            || self.title_prefix != other.title_prefix
            || self.pixel_mouse != other.pixel_mouse
    }
}
