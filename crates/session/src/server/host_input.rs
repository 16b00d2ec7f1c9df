//! The queue of bytes for the pty.

/// Most bytes of input that wait for the pty. Above this bound the clients keep their input. A program that has stopped
/// reading then loses nothing, and the server's memory is bounded. A single client message may exceed it by its own
/// length. Chosen: the bound of a client's own queue.
pub(super) const HOST_INPUT_MAX: usize = 1_048_576;
/// Bytes waiting for the pty below which the clients may send input again. Chosen: half, so that not every read of the
/// program stops or resumes the clients.
pub(super) const HOST_INPUT_RESUME: usize = HOST_INPUT_MAX / 2;

/// The bytes that wait for the pty: keys, and answers of the terminal.
#[derive(Debug, Default)]
pub(super) struct HostInput {
    pub(super) bytes: Vec<u8>,
    /// How many bytes at the front of `bytes` the pty has taken.
    taken: usize,
}

impl HostInput {
    pub(super) fn waiting(&self) -> &[u8] {
        &self.bytes[self.taken..]
    }

    /// Removes the first `len` waiting bytes, which the pty has taken.
    pub(super) fn consume(&mut self, len: usize) {
        debug_assert!(len <= self.waiting().len(), "the pty takes what it was offered");
        self.taken = self.bytes.len().min(self.taken + len);
        // Moving the rest only when it is the smaller part keeps the cost per byte constant.
        if self.taken * 2 >= self.bytes.len() {
            self.bytes.drain(..self.taken);
            self.taken = 0;
        }
    }
}
