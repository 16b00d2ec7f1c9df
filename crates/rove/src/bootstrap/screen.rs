//! What ssh and the host say besides the server's announcement, on its way to the user.

use std::io::{self, Write};

use crate::bootstrap::printable::Printable;
use crate::bootstrap::startup::Stream;
use crate::program::ProgramName;

/// The user's standard output, where both streams of ssh are shown: as they are for `mosh`, as stock does, and
/// without escape sequences for `rove`.
pub(crate) struct Screen {
    /// A filter for each stream, so that neither finishes what the other has begun.
    filters: Option<[Printable; 2]>,
}

impl Screen {
    /// Creates the way to the user of the program with this name.
    pub(crate) fn new(name: ProgramName) -> Self {
        Self { filters: (name == ProgramName::Rove).then(Default::default) }
    }

    /// Shows what `stream` has brought for the user.
    pub(crate) fn show(&mut self, stream: Stream, text: &[u8]) {
        let filtered = self.filters.as_mut().map(|filters| filters[stream as usize].filter(text));
        // A reader that has gone away is no reason to end the session.
        let mut stdout = io::stdout();
        let _ = stdout.write_all(filtered.as_deref().unwrap_or(text)).and_then(|()| stdout.flush());
    }
}
