//! The cursor, and the related state that DECSC saves with it.

use crate::emulator::charset::Charsets;
use crate::screen::cell::{Color, Pen};

/// The state that DECSC saves and DECRC restores. The default is the state after a reset.
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
    /// Moves the saved row up by `rows`, together with the rows of the screen.
    pub(crate) fn lift(&mut self, rows: u16) {
        self.row = self.row.saturating_sub(rows);
    }
}
