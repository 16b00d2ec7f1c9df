//! The object that the tests synchronise: an append-only note, as strict as the user's input is.

use std::rc::Rc;

use rove_ssp::{ApplyError, Capabilities, Object};
use rove_units::Bytes;

/// Text that only grows. Its diff is the appended text; diffs over `DIFF_MAX` bytes are divided. A receiver refuses a
/// text that does not begin with the text already delivered. A stock peer would exit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Note<const DIFF_MAX: usize> {
    log: Rc<Vec<u8>>,
    end: usize,
}

impl<const DIFF_MAX: usize> Note<DIFF_MAX> {
    /// Returns the text.
    pub(crate) fn text(&self) -> &[u8] {
        &self.log[..self.end]
    }

    /// Returns the note with `text` appended.
    pub(crate) fn appended(&self, text: &[u8]) -> Self {
        let mut longer = self.clone();
        let log = Rc::make_mut(&mut longer.log);
        log.truncate(self.end);
        log.extend(text);
        longer.end = log.len();
        longer
    }
}

impl<const MAX: usize> Object for Note<MAX> {
    const DIFF_MAX: usize = MAX;

    fn diff_from(&self, base: &Self, _: Capabilities) -> Vec<u8> {
        assert!(self.text().starts_with(base.text()), "a state must extend its reference");
        self.log[base.end..self.end].to_vec()
    }

    fn apply(&mut self, diff: &[u8]) -> Result<(), ApplyError> {
        if diff.starts_with(b"\0") {
            return Err(ApplyError { reason: "a zero byte".into() });
        }
        *self = self.appended(diff);
        Ok(())
    }

    fn same_as(&self, other: &Self) -> bool {
        self.end == other.end && self.text() == other.text()
    }

    fn follows(&self, newest: &Self) -> bool {
        self.text().starts_with(newest.text())
    }

    fn bytes_beyond(&self, neighbour: Option<&Self>) -> Bytes {
        let shared = neighbour.is_some_and(|neighbour| Rc::ptr_eq(&self.log, &neighbour.log));
        if shared { Bytes::ZERO } else { Bytes::from(self.log.len()) }
    }

    fn midpoint(&self, base: &Self) -> Option<Self> {
        let middle = base.end + (self.end - base.end) / 2;
        (middle > base.end).then(|| Self { log: Rc::clone(&self.log), end: middle })
    }
}
