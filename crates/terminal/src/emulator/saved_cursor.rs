//! What DECSC puts aside.

use crate::emulator::charset::Charsets;
use crate::screen::cell::{Color, Pen};

/// What DECSC keeps for DECRC. Never saved, it is the state after a reset.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SavedCursor {
    pub(crate) row: u16,
    pub(crate) column: u16,
    pub(crate) pending_wrap: bool,
    pub(crate) pen: Pen,
    pub(crate) underline_color: Color,
    pub(crate) origin: bool,
    pub(crate) charsets: Charsets,
}

impl SavedCursor {
    /// Follows rows that moved up.
    pub(crate) fn lift(&mut self, rows: u16) {
        self.row = self.row.saturating_sub(rows);
    }
}
