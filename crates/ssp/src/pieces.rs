//! The newest instruction, cut up, and how far it has been handed out.

use crate::connection::size_of;
use crate::fragment::Fragment;
use crate::num::StateNum;
use crate::path_size::Cut;

/// The fragments of the newest instruction and what goes with each. The default is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pieces {
    pub(crate) fragments: Vec<Fragment>,
    /// How many of them were handed out.
    pub(crate) sent: usize,
    /// The acknowledgment that they carry.
    pub(crate) ack_num: StateNum,
    /// The state that they bring contents of, if they bring any.
    pub(crate) contents_num: Option<StateNum>,
    /// Whether they are no more than an answer to a heartbeat.
    pub(crate) is_answer: bool,
    /// Whether they are one that tries a size.
    pub(crate) is_try: bool,
}

impl Pieces {
    /// Takes the fragments of the instruction that the other fields are about.
    pub(crate) fn cut(&mut self, fragments: Vec<Fragment>) {
        (self.fragments, self.sent) = (fragments, 0);
    }

    /// Returns the next fragment on the wire, if one is left.
    pub(crate) fn next(&self) -> Option<Vec<u8>> {
        self.fragments.get(self.sent).map(Fragment::encode)
    }

    /// Notes that the next one was handed out; returns whether it was the last.
    pub(crate) fn handle_sent(&mut self) -> bool {
        self.sent += 1;
        self.sent == self.fragments.len()
    }

    /// Hands nothing out any more, until they are all to be handed out again.
    pub(crate) fn stop(&mut self) {
        self.sent = self.fragments.len();
    }

    /// Hands all of them out once more.
    pub(crate) fn again(&mut self) {
        self.sent = 0;
    }

    /// Gives them up.
    pub(crate) fn clear(&mut self) {
        self.cut(Vec::new());
    }

    /// Returns the state that they bring contents of, and how those are cut up.
    pub(crate) fn contents(&self) -> Option<(StateNum, Cut)> {
        let sizes = || self.fragments.iter().map(|fragment| size_of(fragment.contents.len()));
        let largest = sizes().max()?;
        let cut = Cut { largest, datagrams: self.fragments.len(), bytes: sizes().sum() };
        Some((self.contents_num?, cut))
    }
}
