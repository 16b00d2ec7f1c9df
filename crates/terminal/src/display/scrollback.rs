//! Lines for the history of a real terminal: drawn at the top of its screen, and scrolled off.

use std::sync::Arc;

use super::canvas::picture;
use super::dialect::Dialect;
use super::motion::csi;
use crate::screen::cell::Pen;
use crate::screen::cursor::Cursor;
use crate::screen::decoration::Decoration;
use crate::screen::row::Row;
use crate::screen::{Screen, Size};

/// Appends what scrolls `lines` off the top of a terminal that shows `shown`; returns the bytes, and what
/// it shows then. Lines that it shows at its top need no drawing.
pub(crate) fn scroll_off(
    out: Vec<u8>,
    shown: &Screen,
    lines: &[Arc<Row>],
    dialect: Dialect,
) -> (Vec<u8>, Screen) {
    let (mut out, mut shown) = (out, shown.clone());
    let bottom = shown.size.rows() - 1;
    let blank = Arc::new(Row::erased(shown.size.columns(), Pen::default()));
    // One row is left, for the last line to wrap to.
    for lines in lines.chunks(usize::from(bottom).max(1)) {
        let mut above = shown.clone();
        above.rows[..lines.len()].clone_from_slice(lines);
        above.cursor = Cursor { row: bottom, column: 0, visible: false };
        above.pen = Pen::default();
        above.decoration = Decoration::default();
        out = picture(out, &shown, &above, false, dialect);
        out.extend(lines.iter().map(|_| b'\n'));
        above.rows.rotate_left(lines.len());
        let kept = above.rows.len() - lines.len();
        above.rows[kept..].fill(Arc::clone(&blank));
        shown = above;
    }
    (out, shown)
}

/// Appends what scrolls the terminal by `lines` rows without drawing: what it shows at its top is its own.
pub(crate) fn make_room(out: &mut Vec<u8>, size: Size, lines: u16) {
    if lines > 0 {
        out.extend(b"\x1b[r\x1b[m");
        csi(out, size.rows(), b'H');
        out.extend((0..lines).map(|_| b'\n'));
    }
}
