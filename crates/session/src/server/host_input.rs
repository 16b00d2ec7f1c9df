//! Bytes on their way to the pty.

/// Bytes waiting for the pty.
#[derive(Debug, Default)]
pub(super) struct HostInput {
    pub(super) bytes: Vec<u8>,
    /// How many of them the pty has taken.
    taken: usize,
}

impl HostInput {
    pub(super) fn waiting(&self) -> &[u8] {
        &self.bytes[self.taken..]
    }

    /// Forgets the first bytes that wait.
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
