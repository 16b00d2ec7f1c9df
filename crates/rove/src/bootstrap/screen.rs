//! Texts for the user on the way to a session: those of the bootstrap, and those of ssh and the host besides the server's
//! announcement.

use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::iter;
use std::process::Command;

use rove_bootstrap::startup::Stream;
use rove_bootstrap::{HostOptions, Printable, ProgramName};

use crate::messages::wrapped_for;

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
        let shown = match filtered {
            Some(lines) => with_line_ends(&lines, line_end(&io::stdout())),
            None => text.to_owned(),
        };
        // A reader that has gone away is no reason to end the session.
        let mut stdout = io::stdout();
        let _ = stdout.write_all(&shown).and_then(|()| stdout.flush());
    }
}

/// Says something on the way. Nobody to tell it to is no reason to end the session.
pub(crate) fn tell(speaker: &str, sentence: &str) {
    let end = line_end(&io::stderr());
    let text = wrapped_for(&io::stderr(), speaker, &format!("{speaker}: {sentence}"));
    let text = text.replace('\n', end) + end;
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Says what is run, if the user wants to know.
pub(crate) fn tell_running(options: &HostOptions, command: &Command) {
    if options.verbose {
        let words = iter::once(command.get_program()).chain(command.get_args());
        let words: Vec<_> = words.map(OsStr::to_string_lossy).collect();
        tell(options.name.as_str(), &format!("running {}", shell_words::join(words)));
    }
}

/// Returns what ends a line there: on a terminal, which ssh may have made raw, with a carriage return.
fn line_end(stream: &impl IsTerminal) -> &'static str {
    if stream.is_terminal() { "\r\n" } else { "\n" }
}

fn with_line_ends(text: &[u8], end: &str) -> Vec<u8> {
    let mut shown = Vec::with_capacity(text.len() + 8);
    for &byte in text {
        match byte {
            b'\n' => shown.extend(end.as_bytes()),
            byte => shown.push(byte),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_begins_at_the_left() {
        assert_eq!(with_line_ends(b"a\n\nb", "\r\n"), b"a\r\n\r\nb");
        assert_eq!(with_line_ends(b"a\n\nb", "\n"), b"a\n\nb");
    }
}
