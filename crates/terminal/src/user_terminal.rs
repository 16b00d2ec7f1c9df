//! What is known of the terminal that the user looks at, far from the host terminal.

use crate::cluster_widths::ClusterWidths;
use crate::newer::NewerWide;

/// What a host terminal knows of the user's real terminal. Programs are answered from it; the default
/// is to know nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserTerminal {
    /// Whether it speaks the keyboard protocol of kitty.
    pub kitty_keyboard: bool,
    /// Whether it reports the mouse in pixels (mode 1016).
    pub pixel_mouse: bool,
    /// Whether programs may read back what it shows, as checksums (DECRQCRA): those of a recording only, never those of a
    /// session.
    pub screen_checksums: bool,
    /// Whether its user lets programs read back what a program of the session has copied (OSC 52).
    pub read_copied: bool,
    /// Its default foreground: red, green, blue.
    pub foreground: Option<(u8, u8, u8)>,
    /// Its default background.
    pub background: Option<(u8, u8, u8)>,
    /// The colour of its cursor.
    pub cursor: Option<(u8, u8, u8)>,
    /// Width and height of a cell in pixels.
    pub cell_pixels: Option<(u16, u16)>,
    /// Which clusters it counts as one.
    pub cluster_widths: ClusterWidths,
    /// Which characters it gives two columns that our tables do not know.
    pub newer_wide: NewerWide,
}
