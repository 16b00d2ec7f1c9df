//! Bounds the work that one turn of the client's loop does for datagrams of the server.

use crate::client::Client;

/// Work for received datagrams after which the client's loop looks at keys and signals, in cells of the screen
/// ([`Client::effort`]). Chosen: some 4 ms; a screen of 80x24 that is drawn again takes a fiftieth of that.
const EFFORT_MAX: u64 = 4_000_000;

/// A turn of the client's loop, which measures the work done since the turn began.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// [`Client::effort`] when the turn began.
    start: u64,
}

impl Turn {
    /// Begins a turn of the loop, whose work is counted from now on.
    pub fn begin(session: &Client) -> Self {
        Self { start: session.effort() }
    }

    /// Returns whether this turn may handle a further datagram.
    pub fn has_room(self, session: &Client) -> bool {
        !session.has_work() && session.effort() - self.start < EFFORT_MAX
    }
}
