//! Where the next character goes.

use crate::cell::{Color, Pen};
use crate::charset::Charsets;

/// The cursor as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Row, from 0.
    pub row: u16,
    /// Column, from 0; stays below the width even when a wrap is pending.
    pub column: u16,
    /// Whether it is shown (DECTCEM).
    pub visible: bool,
}

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
