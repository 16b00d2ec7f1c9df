//! Facts about the terminal that the user sees, at the other end of the connection.

use crate::cluster_widths::ClusterWidths;
use crate::newer::NewerWide;

/// The facts that a host terminal knows of the user's terminal, and reports to programs. By default it knows none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserTerminal {
    /// Whether it supports the keyboard protocol of kitty.
    pub kitty_keyboard: bool,
    /// Whether it reports the mouse in pixels (mode 1016).
    pub pixel_mouse: bool,
    /// Whether programs may read the screen as checksums (DECRQCRA). This is allowed for recordings only, never in a
    /// session.
    pub screen_checksums: bool,
    /// Whether the user lets programs read text that a program of the session has copied (OSC 52).
    pub read_copied: bool,
    /// Its default foreground: red, green, blue.
    pub foreground: Option<(u8, u8, u8)>,
    /// Its default background.
    pub background: Option<(u8, u8, u8)>,
    /// The colour of its cursor.
    pub cursor: Option<(u8, u8, u8)>,
    /// Width and height of a cell in pixels.
    pub cell_pixels: Option<(u16, u16)>,
    /// The clusters that it counts as a character.
    pub cluster_widths: ClusterWidths,
    /// The characters that it gives two columns and the tables of this crate do not have.
    pub newer_wide: NewerWide,
}
