//! Messages to the user while a session starts: from the bootstrap, and from ssh and the host apart from the server's
//! announcement.

use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::iter;
use std::process::Command;

use rove_bootstrap::startup::Stream;
use rove_bootstrap::{HostOptions, Printable, ProgramName};

use crate::messages::wrapped_for;

/// The user's standard output, which shows both streams of ssh: unchanged for `mosh`, as stock does, and without escape
/// sequences for `rove`.
pub(crate) struct Screen {
    /// A filter for each stream, so that an escape sequence begun on one does not end on the other. `None` under the
    /// name `mosh`.
    filters: Option<[Printable; 2]>,
}

impl Screen {
    /// Creates the output for the program with this name.
    pub(crate) fn new(name: ProgramName) -> Self {
        Self { filters: (name == ProgramName::Rove).then(Default::default) }
    }

    /// Shows text that came on `stream`.
    pub(crate) fn show(&mut self, stream: Stream, text: &[u8]) {
        let filtered = self.filters.as_mut().map(|filters| filters[stream as usize].filter(text));
        let shown = match filtered {
            Some(lines) => with_line_ends(&lines, line_end(&io::stdout())),
            None => text.to_owned(),
        };
        // A closed standard output is no reason to end the session.
        let mut stdout = io::stdout();
        let _ = stdout.write_all(&shown).and_then(|()| stdout.flush());
    }
}

/// Prints a message of the bootstrap on standard error. A failure to print is ignored.
pub(crate) fn tell(speaker: &str, sentence: &str) {
    let end = line_end(&io::stderr());
    let text = wrapped_for(&io::stderr(), speaker, &format!("{speaker}: {sentence}"));
    let text = text.replace('\n', end) + end;
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Prints the command that is run, if the user asked for that with `--verbose`.
pub(crate) fn tell_running(options: &HostOptions, command: &Command) {
    if options.verbose {
        let words = iter::once(command.get_program()).chain(command.get_args());
        let words: Vec<_> = words.map(OsStr::to_string_lossy).collect();
        tell(options.name.as_str(), &format!("running {}", shell_words::join(words)));
    }
}

/// Returns the end of a line on `stream`: with a carriage return on a terminal, which ssh may have made raw.
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
