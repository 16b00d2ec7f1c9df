//! What programs copied (OSC 52): for the user's terminal, and for programs that may ask for it.

use std::sync::Arc;

use crate::clipboard::Copied;
use crate::emulator::reply::REPLIES_BYTES_MAX;

/// The texts that programs copied last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies {
    /// What a program copied last, until somebody takes it.
    pub(crate) last: Option<Copied>,
    /// The last text that a program copied to the clipboard, where programs may ask for it and an answer has room for it.
    readable: Option<Arc<str>>,
}

impl Copies {
    /// Keeps a copy: for programs if they may read it, and for the user's terminal if this is a host.
    pub(crate) fn keep(&mut self, copied: Copied, is_readable: bool, is_host: bool) {
        if copied.is_for_clipboard() {
            let is_readable = is_readable && copied.text().len() <= REPLIES_BYTES_MAX;
            self.readable = is_readable.then(|| Arc::clone(copied.text()));
        }
        // Copying nothing is no reason to take the user's own clipboard away.
        if is_host && !copied.text().is_empty() {
            self.last = Some(copied.after(self.last.take()));
        }
    }

    /// Returns what a program of this session copied to `selections` last. The user's own clipboard is never told.
    pub(crate) fn readable(&self, selections: &str) -> Option<&str> {
        let copied = Copied::new(selections, "")?;
        self.readable.as_deref().filter(|_| copied.is_for_clipboard())
    }
}
