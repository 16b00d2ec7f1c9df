//! Facts about the user's terminal, which is at the client's end of the connection.

use crate::cluster_widths::ClusterWidths;
use crate::newer::NewerWide;

/// The facts about the user's terminal that a host terminal obeys or reports to programs. By default, none are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserTerminal {
    /// Whether the user's terminal supports kitty's keyboard protocol.
    pub kitty_keyboard: bool,
    /// Whether the user's terminal reports the mouse in pixels (mode 1016).
    pub pixel_mouse: bool,
    /// Whether programs may read the screen as checksums (DECRQCRA). Replays of recordings allow this, sessions do not.
    pub screen_checksums: bool,
    /// Whether the user lets programs read text that a program of the session has copied (OSC 52).
    pub read_copied: bool,
    /// Default foreground of the user's terminal: red, green, blue. `None` if unknown.
    pub foreground: Option<(u8, u8, u8)>,
    /// Default background of the user's terminal: red, green, blue. `None` if unknown.
    pub background: Option<(u8, u8, u8)>,
    /// Colour of the terminal's cursor: red, green, blue. `None` if unknown.
    pub cursor: Option<(u8, u8, u8)>,
    /// Width and height of a cell of the user's terminal in pixels. `None` if unknown.
    pub cell_pixels: Option<(u16, u16)>,
    /// The kinds of clusters (such as joined emoji) that the user's terminal draws as one character.
    pub cluster_widths: ClusterWidths,
    /// The characters that the user's terminal draws two columns wide, but that this crate's tables do not contain.
    pub newer_wide: NewerWide,
}
