//! Reads output by lines. Passes bytes on to the user as soon as their line cannot be rove's own.

/// Longest line of output that rove reads as its own message, in bytes. Longer lines are text for the user. Chosen:
/// several times a line with two IPv6 addresses, their zones and their ports.
pub const LINE_BYTES_MAX: usize = 1024;

/// The words at the start of rove's own lines.
const MARKERS: [&[u8]; 2] = [b"MOSH ", b"ROVE "];

/// A line that is complete.
#[derive(Debug)]
pub struct Ended {
    /// The line without its line end, up to [`LINE_BYTES_MAX`].
    pub bytes: Vec<u8>,
    /// Whether the line is text for the user, which [`LineReader::push`] has already passed on.
    pub is_text: bool,
}

impl Ended {
    /// Returns the line if it may be rove's own, else no bytes, because its bytes have been passed on.
    pub fn held(&self) -> &[u8] {
        if self.is_text { &[] } else { &self.bytes }
    }
}

/// Reads the lines of one stream, and separates rove's own lines from text for the user.
#[derive(Debug, Default)]
pub struct LineReader {
    /// The bytes of the current line, up to [`LINE_BYTES_MAX`].
    line: Vec<u8>,
    /// Whether the current line is text for the user, and its bytes have been passed on.
    is_text: bool,
}

impl LineReader {
    /// Adds a byte other than a line end to the line. Once the line cannot be rove's own, all its bytes go to `text`.
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

    /// Ends the current line, and returns it. The next byte begins a new line.
    pub fn end(&mut self) -> Ended {
        let Self { line: bytes, is_text } = core::mem::take(self);
        Ended { bytes, is_text }
    }
}
