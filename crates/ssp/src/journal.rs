//! The diffs of the received states, for an owner that writes them to disk before they are acknowledged.

use crate::num::StateNum;

/// Maximum length of received diffs that wait for the owner to write them, in bytes. Above it, all are dropped, and the
/// owner writes whole states. Chosen: many times as much as a driver receives in one turn.
const BYTES_MAX: usize = 1024 * 1024;

/// A received state, as the diff that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedDiff {
    /// The state's number.
    pub num: StateNum,
    /// The state from which the diff starts.
    pub old_num: StateNum,
    /// The number below which the receiver may drop its states.
    pub throwaway_num: StateNum,
    /// The diff; an empty one leaves the state as it is.
    pub diff: Vec<u8>,
}

/// The received diffs that wait for the owner of this end to write them, if it asks for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    diffs: Option<Vec<ReceivedDiff>>,
    bytes: usize,
    /// Whether diffs were dropped since the owner last took them.
    is_cut: bool,
}

impl Journal {
    /// Starts to keep diffs, or stops keeping them if `keeps` is false. Diffs kept so far are dropped.
    pub(crate) fn keep(&mut self, keeps: bool) {
        *self = Self { diffs: keeps.then(Vec::new), ..Self::default() };
    }

    /// Keeps a diff if the owner has called [`Journal::keep`].
    pub(crate) fn push(&mut self, received: ReceivedDiff) {
        let Some(diffs) = &mut self.diffs else { return };
        self.bytes += received.diff.len() + size_of::<ReceivedDiff>();
        diffs.push(received);
        if self.bytes > BYTES_MAX {
            diffs.clear();
            (self.bytes, self.is_cut) = (0, true);
        }
    }

    /// Returns whether diffs wait, or were dropped.
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_cut || self.diffs.as_ref().is_some_and(|diffs| !diffs.is_empty())
    }

    /// Returns the diffs since the last call, or `None` if some of them were dropped.
    pub(crate) fn take(&mut self) -> Option<Vec<ReceivedDiff>> {
        self.bytes = 0;
        let diffs = self.diffs.as_mut().map(core::mem::take).unwrap_or_default();
        (!core::mem::take(&mut self.is_cut)).then_some(diffs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diffs_beyond_the_bound_are_dropped_and_the_owner_hears_of_it_once() {
        let diff = |len| ReceivedDiff {
            num: StateNum::new(2),
            old_num: StateNum::new(1),
            throwaway_num: StateNum::new(1),
            diff: vec![7; len],
        };
        let mut journal = Journal::default();
        journal.push(diff(1));
        assert!(!journal.is_waiting(), "nobody wants it");
        journal.keep(true);
        journal.push(diff(1));
        assert_eq!(journal.take(), Some(vec![diff(1)]));
        journal.push(diff(BYTES_MAX));
        assert!(journal.is_waiting());
        assert_eq!((journal.take(), journal.take()), (None, Some(vec![])));
    }
}
