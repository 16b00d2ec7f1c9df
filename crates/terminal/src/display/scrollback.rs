//! Adds lines to the scrollback history of a real terminal: draws them at the top of its screen, and scrolls them off.

use std::sync::Arc;

use super::canvas::picture;
use super::dialect::Dialect;
use super::motion::csi;
use crate::screen::cell::Pen;
use crate::screen::cursor::Cursor;
use crate::screen::decoration::Decoration;
use crate::screen::row::Row;
use crate::screen::{Screen, Size};

/// Appends the bytes that scroll `lines` off the top of a terminal that displays `shown`. Returns the bytes and the
/// resulting screen. Does not draw lines that are already at the top of the screen.
pub(crate) fn scroll_off(
    out: Vec<u8>,
    shown: &Screen,
    lines: &[Arc<Row>],
    dialect: Dialect,
) -> (Vec<u8>, Screen) {
    let (mut out, mut shown) = (out, shown.clone());
    let bottom = shown.size.rows() - 1;
    let blank = Arc::new(Row::erased(shown.size.columns(), Pen::default()));
    // The bottom row stays free, so that the last line can wrap into it.
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

/// Appends the bytes that scroll the terminal up by `lines` rows. Draws nothing, so the rows at the top of the screen
/// enter the history as they are.
pub(crate) fn make_room(out: &mut Vec<u8>, size: Size, lines: u16) {
    if lines > 0 {
        out.extend(b"\x1b[r\x1b[m");
        csi(out, size.rows(), b'H');
        out.extend((0..lines).map(|_| b'\n'));
    }
}
