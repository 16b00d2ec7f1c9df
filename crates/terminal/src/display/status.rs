//! The working directory (OSC 7) and progress bar (OSC 9;4) that programs report.

use super::motion::push_number;
use crate::screen::progress::Progress;

/// Writes the address of the working directory (OSC 7), if it has changed.
pub(crate) fn directory(out: &mut Vec<u8>, old: &str, new: &str) {
    if old != new {
        out.extend(b"\x1b]7;");
        out.extend(new.as_bytes());
        out.push(b'\x07');
    }
}

/// Writes the progress bar (OSC 9;4), if it has changed.
pub(crate) fn progress(out: &mut Vec<u8>, old: Option<Progress>, new: Option<Progress>) {
    if old == new {
        return;
    }
    let (kind, percent) = new.map_or((0, 0), |new| (new.kind as u16, new.percent));
    out.extend(b"\x1b]9;4;");
    push_number(out, kind);
    out.push(b';');
    push_number(out, u16::from(percent));
    out.push(b'\x07');
}
