//! Lines as they come in: what can be no line of ours goes to the user without waiting for the line's end.

/// Longest line that can be for us, in bytes; longer ones are for the user. Chosen: five times the
/// longest that makes sense, two IPv6 addresses with zones and their ports.
pub const LINE_BYTES_MAX: usize = 1024;

/// Words at the start of each line that is ours.
const MARKERS: [&[u8]; 2] = [b"MOSH ", b"ROVE "];

/// A line that has ended.
#[derive(Debug)]
pub struct Ended {
    /// The line without its end, up to [`LINE_BYTES_MAX`].
    pub bytes: Vec<u8>,
    /// Whether it is for the user, and has been passed on already.
    pub is_text: bool,
}

/// A reader of one stream's lines.
#[derive(Debug, Default)]
pub struct LineReader {
    /// The line so far, up to [`LINE_BYTES_MAX`].
    line: Vec<u8>,
    /// Whether the line is for the user, and has been passed on so far.
    is_text: bool,
}

impl LineReader {
    /// Adds a byte other than a line's end. A line that cannot be ours goes to `text`.
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

    /// Ends the line.
    pub fn end(&mut self) -> Ended {
        let Self { line: bytes, is_text } = core::mem::take(self);
        Ended { bytes, is_text }
    }
}
