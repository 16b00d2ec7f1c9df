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
