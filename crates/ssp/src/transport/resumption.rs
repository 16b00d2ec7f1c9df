//! Continues a session in another process of this end: the facts to write to disk, and the start from them.

use rove_units::Instant;

use crate::hello::Peer;
use crate::journal::ReceivedDiff;
use crate::num::StateNum;
use crate::object::Object;
use crate::transport::Transport;
use crate::window::Window;

/// The facts with which a new process of a client continues a session with a Mosh 1.4.0 (stock) server.
#[derive(Clone, Debug)]
pub struct Resumed<Local, Remote> {
    /// A number above those of all datagrams, instructions and states of the former client.
    pub numbers_from: u64,
    /// How many cipher blocks the former client may have sealed with the key.
    pub sealed_blocks: u64,
    /// How many of the peer's datagrams may have been received. Replays of them are refused.
    pub peer_datagrams: u64,
    /// The newest state that the peer has acknowledged, with its number.
    pub known: (StateNum, Local),
    /// The current object, which extends the object in `known` ([`Object::follows`]).
    pub current: Local,
    /// The received states from which the peer's next diffs may start, ascending by number.
    pub received: Vec<(StateNum, Remote)>,
}

impl<Local: Object, Remote: Object> Transport<Local, Remote> {
    /// Makes this end, which has sent nothing yet, continue a former end's session with a stock peer.
    ///
    /// # Panics
    ///
    /// Panics if there is no received state.
    pub fn resume(&mut self, resumed: Resumed<Local, Remote>, now: Instant) {
        let Resumed { numbers_from, sealed_blocks, peer_datagrams, known, current, received } =
            resumed;
        debug_assert!(self.instructions == 0, "an end that has spoken has numbers of its own");
        debug_assert!(received.is_sorted_by(|(a, _), (b, _)| a < b));
        debug_assert!(known.0 <= StateNum::new(numbers_from), "a state was numbered below");
        debug_assert!(current.follows(&known.1), "input is only appended");
        debug_assert!(sealed_blocks > 0, "the former client has spoken");
        let newest = received.last().expect("there is a received state").0;
        self.connection.next_seq = numbers_from;
        self.connection.cipher.resume(sealed_blocks);
        self.connection.window = Window::above(peer_datagrams);
        self.instructions = numbers_from;
        self.sender.resume(known, current, StateNum::new(numbers_from), newest, now);
        self.receiver.resume(received, now);
        self.peer = Peer::Stock;
    }

    /// Starts or stops to keep received diffs for [`Transport::take_received`].
    pub fn keep_received(&mut self, keeps: bool) {
        self.receiver.journal.keep(keeps);
    }

    /// Returns whether received diffs wait for [`Transport::take_received`], or were too large to be kept.
    pub fn has_received(&self) -> bool {
        self.receiver.journal.is_waiting()
    }

    /// Returns the diffs of the states that were received since the last call, in the order in which they were applied.
    /// `None` if they were too large to be kept: the caller then writes the received states ([`Transport::received`]).
    pub fn take_received(&mut self) -> Option<Vec<ReceivedDiff>> {
        self.receiver.journal.take()
    }

    /// Returns the received states from which the peer's next diffs may start.
    pub fn received(&self) -> impl Iterator<Item = (StateNum, &Remote)> {
        self.receiver.states()
    }

    /// Returns the lowest number that is above the numbers of all datagrams, instructions and states that this end has
    /// sent. The state that announces the shutdown does not count, because it has the highest number there is.
    pub fn unused_number(&self) -> u64 {
        let state = self.sender.sent.next_num();
        let state = if state == StateNum::SHUTDOWN { 0 } else { state.get() };
        self.connection.next_seq.max(self.instructions + 1).max(state)
    }

    /// Allows numbers of datagrams, instructions and states only below `end`, if any. At the limit, nothing is sent.
    pub fn reserve(&mut self, end: Option<u64>) {
        debug_assert!(
            end.is_none_or(|end| end >= self.unused_number()),
            "a used number is reserved"
        );
        self.reserved = end;
    }

    /// Returns how many cipher blocks may have been sealed with the key.
    pub fn sealed_blocks(&self) -> u64 {
        self.connection.cipher.sealed_blocks()
    }
}
