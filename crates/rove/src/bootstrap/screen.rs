//! Shows messages to the user while a session starts. They are rove's own, and the output of ssh and the host. The
//! server's announcement is not shown.

use std::ffi::OsStr;
use std::io::{self, IsTerminal, Write};
use std::iter;
use std::process::Command;

use rove_bootstrap::startup::Stream;
use rove_bootstrap::{HostOptions, Printable, ProgramName};

use crate::messages::{FarLines, columns, wrapped_for};

/// Shows both output streams of ssh to the user. Under the name `mosh`, the output is unchanged, as in stock Mosh.
/// Under the name `rove`, it is without escape sequences.
pub(crate) struct Screen {
    /// A filter for each stream: no escape sequence begins on one and ends on the other. `None` under the name `mosh`.
    filters: Option<[Printable; 2]>,
    lines: [FarLines; 2],
    /// Whether standard output carries a forwarded connection. Then only ssh's errors are shown, on standard error.
    is_beside_output: bool,
}

impl Screen {
    pub(crate) fn new(name: ProgramName) -> Self {
        let filters = (name == ProgramName::Rove).then(Default::default);
        Self { filters, lines: Default::default(), is_beside_output: false }
    }

    /// Creates the screen of a run whose standard output carries a forwarded connection's bytes.
    pub(crate) fn beside_output() -> Self {
        Self { is_beside_output: true, ..Self::new(ProgramName::Rove) }
    }

    pub(crate) fn show(&mut self, stream: Stream, text: &[u8]) {
        if self.is_beside_output && stream == Stream::Output {
            return;
        }
        let (width, end) = match self.is_beside_output {
            true => (columns(&io::stderr()), line_end(&io::stderr())),
            false => (columns(&io::stdout()), line_end(&io::stdout())),
        };
        let Some(filters) = &mut self.filters else { return self.print(text) };
        let text = filters[stream as usize].filter(text);
        let text = self.lines[stream as usize].filter(width, &text);
        self.print(&with_line_ends(&text, end));
    }

    /// Shows the unfinished last line, which was held back, of a stream that has ended.
    pub(crate) fn finish(&mut self, stream: Stream) {
        let rest = self.lines[stream as usize].finish();
        self.print(&rest);
    }

    fn print(&self, text: &[u8]) {
        // A closed stream is no reason to end the session.
        let _ = match self.is_beside_output {
            true => io::stderr().write_all(text),
            false => io::stdout().write_all(text).and_then(|()| io::stdout().flush()),
        };
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
