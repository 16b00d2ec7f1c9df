//! The queue of bytes for the pty.

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
