//! Stores the texts that programs copy (OSC 52).

use std::sync::Arc;

use crate::clipboard::Copied;
use crate::emulator::reply::REPLIES_BYTES_MAX;
use crate::parse::Terminator;

/// The texts that programs copied last: one for the user's terminal, and one for programs that read the clipboard.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies {
    /// The last copied text for the user's terminal, until the caller takes it.
    pub(crate) last: Option<Copied>,
    /// The last text copied to the clipboard, in base64. `None` if programs may not read it, or if it is too long for
    /// an answer.
    readable: Option<Arc<str>>,
}

impl Copies {
    /// Stores a copied text. `is_readable`: programs may read it. `is_host`: the user's terminal gets it too.
    pub(crate) fn keep(&mut self, copied: Copied, is_readable: bool, is_host: bool) {
        if copied.is_for_clipboard() {
            let is_readable = is_readable && copied.text().len() <= REPLIES_BYTES_MAX;
            self.readable = is_readable.then(|| Arc::clone(copied.text()));
        }
        // An empty copy does not clear the user's own clipboard.
        if is_host && !copied.text().is_empty() {
            self.last = Some(copied.after(self.last.take()));
        }
    }

    /// Returns the answer to OSC 52 with `?`. It has the last text that a program of this session has copied to the
    /// clipboard. `None` if programs may not read it, or `selections` lacks the clipboard. Never reports the user's own
    /// clipboard.
    pub(crate) fn answer(&self, selections: &str, terminator: Terminator) -> Option<String> {
        let is_for_clipboard = Copied::new(selections, "")?.is_for_clipboard();
        let text = self.readable.as_deref().filter(|_| is_for_clipboard)?;
        Some(format!("\x1b]52;{selections};{text}{}", terminator.as_str()))
    }
}
