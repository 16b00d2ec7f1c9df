//! Reads lines as they arrive. A line that cannot be one of rove's goes to the user without waiting for its end.

/// Longest line that can be one of rove's, in bytes; longer lines are for the user. Chosen: five times the longest
/// possible, with two IPv6 addresses with zones and their ports.
pub const LINE_BYTES_MAX: usize = 1024;

/// The words at the start of rove's own lines.
const MARKERS: [&[u8]; 2] = [b"MOSH ", b"ROVE "];

/// A line that is complete.
#[derive(Debug)]
pub struct Ended {
    /// The line without its line end, up to [`LINE_BYTES_MAX`].
    pub bytes: Vec<u8>,
    /// Whether the line is for the user, and has been passed on already.
    pub is_text: bool,
}

/// Reads the lines of one stream, and tells rove's own from the user's.
#[derive(Debug, Default)]
pub struct LineReader {
    /// The bytes of the current line, up to [`LINE_BYTES_MAX`].
    line: Vec<u8>,
    /// Whether the current line is for the user, and has been passed on so far.
    is_text: bool,
}

impl LineReader {
    /// Adds a byte that is not a line end. If the line cannot be one of rove's, it goes to `text`.
    pub fn push(&mut self, byte: u8, text: &mut Vec<u8>) {
        let fits = self.line.len() < LINE_BYTES_MAX;
        if fits {
            self.line.push(byte);
        }
        let may_begin = |marker: &&[u8]| self.line.iter().zip(*marker).all(|(byte, it)| byte == it);
        if self.is_text {
            text.push(byte);
        } else if !fits || !MARKERS.iter().any(may_begin) {
            self.is_text = true;
            text.extend(&self.line);
            if !fits {
                text.push(byte);
            }
        }
    }

    /// Ends the current line, and returns it.
    pub fn end(&mut self) -> Ended {
        let Self { line: bytes, is_text } = core::mem::take(self);
        Ended { bytes, is_text }
    }
}
