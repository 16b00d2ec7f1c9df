//! Facts about the user's terminal, and permissions of the user, which the server needs to answer programs' questions.

use rove_ssp::Capabilities;
use rove_terminal::{ClusterWidths, NewerChar, NewerWide, UserTerminal};

/// A colour: red, green and blue, from 0 to 255.
pub(crate) type Rgb = (u8, u8, u8);

/// Largest width or height of a character cell that the server accepts, in pixels. Chosen: ten times the cell of a
/// large font on today's densest screens.
const CELL_PIXELS_MAX: u16 = 1024;

/// A fact about the user's terminal, or a permission of the user, that the client reports to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalReport {
    /// The terminal supports kitty's keyboard protocol.
    KittyKeyboard,
    /// The terminal can report mouse positions in pixels.
    PixelMouse,
    /// The user permits programs to read back text that the session's programs have copied (OSC 52).
    ReadCopied,
    /// The terminal's default foreground colour.
    Foreground(Rgb),
    /// The terminal's default background colour.
    Background(Rgb),
    /// The colour of the terminal's cursor.
    Cursor(Rgb),
    /// The size of the terminal's character cells, in pixels.
    CellPixels {
        /// Width of a cell, in pixels.
        width: u16,
        /// Height of a cell, in pixels.
        height: u16,
    },
    /// The kinds of grapheme clusters that the terminal counts as one character.
    ClusterWidths(ClusterWidths),
    /// A character to which the terminal gives two columns, of a newer Unicode version than rove's width table.
    NewerWide(NewerChar),
}

impl TerminalReport {
    /// Returns whether a server with these capabilities knows this kind of report. Call it only for a server that
    /// supports reports of the basic kinds.
    pub(crate) const fn is_known_with(self, capabilities: Capabilities) -> bool {
        !matches!(self, Self::ClusterWidths(_) | Self::NewerWide(_))
            || capabilities.contains(Capabilities::CLUSTERS)
    }

    /// Adds this fact to the server's record of the user's terminal. A cell size out of bounds is ignored.
    pub(crate) fn add_to(self, terminal: &mut UserTerminal) {
        let side = 1..=CELL_PIXELS_MAX;
        match self {
            Self::KittyKeyboard => terminal.kitty_keyboard = true,
            Self::PixelMouse => terminal.pixel_mouse = true,
            Self::ReadCopied => terminal.read_copied = true,
            Self::Foreground(color) => terminal.foreground = Some(color),
            Self::Background(color) => terminal.background = Some(color),
            Self::Cursor(color) => terminal.cursor = Some(color),
            // The report may be about another terminal with another Unicode version, so earlier findings are dropped.
            Self::ClusterWidths(widths) => {
                (terminal.cluster_widths, terminal.newer_wide) = (widths, NewerWide::NONE);
            }
            Self::NewerWide(c) => terminal.newer_wide.insert(c),
            Self::CellPixels { width, height } => {
                if side.contains(&width) && side.contains(&height) {
                    terminal.cell_pixels = Some((width, height));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_report_adds_what_it_says_and_no_cell_is_out_of_reason() {
        let mut terminal = UserTerminal::default();
        let newer = |c| NewerChar::new(c).unwrap();
        for report in [
            TerminalReport::KittyKeyboard,
            TerminalReport::PixelMouse,
            TerminalReport::ReadCopied,
            TerminalReport::Foreground((1, 2, 3)),
            TerminalReport::Background((4, 5, 6)),
            TerminalReport::Cursor((7, 8, 9)),
            TerminalReport::CellPixels { width: 1, height: CELL_PIXELS_MAX },
            TerminalReport::NewerWide(newer('\u{1faec}')),
            TerminalReport::ClusterWidths(ClusterWidths::ALL),
            TerminalReport::NewerWide(newer('\u{1faed}')),
        ] {
            report.add_to(&mut terminal);
        }
        let mut newer_wide = NewerWide::NONE;
        newer_wide.insert(newer('\u{1faed}'));
        let known = UserTerminal {
            kitty_keyboard: true,
            pixel_mouse: true,
            screen_checksums: false,
            read_copied: true,
            foreground: Some((1, 2, 3)),
            background: Some((4, 5, 6)),
            cursor: Some((7, 8, 9)),
            cell_pixels: Some((1, CELL_PIXELS_MAX)),
            cluster_widths: ClusterWidths::ALL,
            newer_wide,
        };
        assert_eq!(terminal, known);
        for (width, height) in [(0, 8), (8, 0), (CELL_PIXELS_MAX + 1, 8), (8, u16::MAX)] {
            TerminalReport::CellPixels { width, height }.add_to(&mut terminal);
            assert_eq!(terminal, known, "{width}x{height}");
        }
    }
}
