//! Output of the pty that was read and waits for the session.

use std::io;
use std::ops::Range;

/// Most bytes read from the pty in one turn of the loop. Datagrams are handled in between, so Ctrl-C reaches a program
/// that never stops writing. Source: Mosh 1.4.0 as observed.
const HOST_OUTPUT_PER_TURN: usize = 16_384;
/// Free space in the buffer, in bytes, below which a turn stops reading from the pty. A read into less space would cost
/// as much as a full read. It would end in the middle of a program's write. Under `yes`, each turn would then end in
/// the middle of a line. A frame with half a line would be sent. Source: Linux, whose pty holds 4095 bytes for its
/// reader.
const HOST_READ_MAX: usize = 4096;
const _: () = assert!(HOST_READ_MAX <= HOST_OUTPUT_PER_TURN);

/// The reason why a turn stopped reading from the pty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Less than [`HOST_READ_MAX`] bytes of the buffer are free, or older bytes wait. The pty may have more output.
    More,
    /// The pty has no more output at the moment.
    Nothing,
    End,
}

/// The bytes that were read from the pty and that the session has not handled. The next bytes are read after the
/// session has handled all of them.
pub(super) struct HostOutput {
    buffer: Vec<u8>,
    waiting: Range<usize>,
}

impl HostOutput {
    pub(super) fn new() -> Self {
        Self { buffer: vec![0; HOST_OUTPUT_PER_TURN], waiting: 0..0 }
    }

    pub(super) fn waiting(&self) -> &[u8] {
        &self.buffer[self.waiting.clone()]
    }

    /// Reads at most [`HOST_OUTPUT_PER_TURN`] bytes, and none while older bytes wait. Returns why the reading stopped.
    pub(super) fn fill(&mut self, mut read: impl FnMut(&mut [u8]) -> io::Result<usize>) -> Found {
        if !self.waiting.is_empty() {
            return Found::More;
        }
        self.waiting = 0..0;
        loop {
            match read(&mut self.buffer[self.waiting.end..]) {
                Ok(0) => return Found::End,
                Ok(len) => self.waiting.end += len,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Found::Nothing,
                Err(_) => return Found::End,
            }
            if self.buffer.len() - self.waiting.end < HOST_READ_MAX {
                return Found::More;
            }
        }
    }

    /// Removes the first `len` waiting bytes, which the session has handled.
    pub(super) fn consume(&mut self, len: usize) {
        debug_assert!(len <= self.waiting.len(), "the session handles what it was given");
        self.waiting.start += len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_wait_until_the_session_has_handled_them_and_nothing_is_read_meanwhile() {
        let mut output = HostOutput::new();
        let mut pieces = vec![Err(io::ErrorKind::WouldBlock), Ok(b"abc"), Ok(b"def")];
        let mut read = |buffer: &mut [u8]| {
            let piece = pieces.pop().unwrap_or(Ok(b"xyz"))?;
            buffer[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        };
        assert_eq!((output.fill(&mut read), output.waiting()), (Found::Nothing, &b"defabc"[..]));
        output.consume(4);
        assert_eq!((output.fill(&mut read), output.waiting()), (Found::More, &b"bc"[..]));
        output.consume(2);
        assert_eq!((output.fill(|_| Ok(0)), output.waiting()), (Found::End, &b""[..]));
    }

    #[test]
    fn a_turn_stops_reading_before_the_buffer_is_full() {
        let mut output = HostOutput::new();
        let mut reads = 0;
        let found = output.fill(|buffer| {
            reads += 1;
            assert!(buffer.len() >= HOST_READ_MAX);
            Ok(4095)
        });
        assert_eq!((found, reads, output.waiting().len()), (Found::More, 4, 4 * 4095));
    }
}
