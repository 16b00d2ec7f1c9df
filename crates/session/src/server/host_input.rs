//! The queue of bytes for the pty.

/// Maximum amount of input that waits for the pty, in bytes. Above this bound the clients must pause their input. A
/// program that has stopped reading then loses nothing, and the server's memory is bounded. A single client message may
/// exceed it by its own length. Chosen: the bound of a client's own queue.
const HOST_INPUT_MAX: usize = 1_048_576;
/// While this many bytes wait for the pty, joined clients must pause their input, and programs get no answers. Chosen:
/// half. Only the session's own client may fill the other half, so that its wishes (to end joined clients, to lock)
/// always reach the server.
const OTHERS_INPUT_MAX: usize = HOST_INPUT_MAX / 2;

/// The bytes that wait for the pty (keys, and answers of the terminal), and whether clients must pause their input.
#[derive(Debug, Default)]
pub(super) struct HostInput {
    pub(super) bytes: Vec<u8>,
    /// How many bytes at the front of `bytes` the pty has taken.
    taken: usize,
    /// Whether the session's own client must send no further input.
    pub(super) holds_own: bool,
    /// Whether the joined clients must send no further input.
    pub(super) holds_joined: bool,
}

impl HostInput {
    /// Updates which clients must pause their input. A client that was stopped may send again once only half of its
    /// bound waits. Otherwise each read of the program would stop and start the clients.
    pub(super) fn settle_holds(&mut self) {
        let waiting = self.waiting().len();
        let hold = |held, max| waiting >= max || held && waiting > max / 2;
        self.holds_own = hold(self.holds_own, HOST_INPUT_MAX);
        self.holds_joined = hold(self.holds_joined, OTHERS_INPUT_MAX);
    }

    /// Appends the terminal's answers to programs. A program that asks and does not read gets answers only until the
    /// queue is half full.
    pub(super) fn answer(&mut self, replies: impl IntoIterator<Item = u8>) {
        if self.waiting().len() < OTHERS_INPUT_MAX {
            self.bytes.extend(replies);
        }
    }

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
