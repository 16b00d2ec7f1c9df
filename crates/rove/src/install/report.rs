//! Reads the lines that the script on the host prints while a program is copied there. The lines are not trusted, and
//! at most shown as text.

use rove_bootstrap::{LineReader, Platform, Printable};

use crate::install::far::MARKER;
use crate::install::version::Version;

/// Longest reason from a host that is shown, in characters. Chosen: three lines of a terminal.
const REASON_CHARS_MAX: usize = 240;

/// Facts about the host that the script has printed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// The host's system and processor. `None` if their names are not plain words.
    pub(crate) platform: Option<Platform>,
    /// The version of the rove on the host. `None` if the host has no rove, or its version is not understood.
    pub(crate) version: Option<Version>,
    /// The SHA-256 of the rove on the host, in hexadecimal. `None` if the host lacks rove or cannot compute it.
    pub(crate) sum: Option<String>,
    /// The path of another rove that the host's PATH finds first. `None` if it finds no other.
    pub(crate) other: Option<String>,
}

/// An event on the host, reported in one line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The script waits for the program.
    Ready,
    /// This many bytes of the program have arrived.
    Has(usize),
    /// The program was installed.
    Done,
    /// The program was not installed, and the host is unchanged.
    Failed(Failure),
}

/// Why a host refused the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The folder cannot be created, for this reason.
    Folder(String),
    /// The program cannot be written, for this reason.
    Write(String),
    /// Only this number of bytes has arrived.
    Size(String),
    /// The arrived bytes have another SHA-256.
    Sum,
    /// The program does not run as it should. The fields are its exit status, as a shell reports it, and its messages.
    Run(i32, String),
    /// The reason is not known to this version of rove.
    Unknown(String),
}

/// Reads the output of the script.
#[derive(Debug, Default)]
pub(crate) struct Report {
    lines: LineReader,
    pub(crate) facts: Facts,
}

impl Report {
    /// Reads more of the output, and returns the events in it. Lines of other programs are ignored.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Vec<Event> {
        let (mut events, mut others) = (Vec::new(), Vec::new());
        for &byte in bytes {
            if byte != b'\n' {
                self.lines.push(byte, &mut others);
                continue;
            }
            let line = self.lines.end();
            if !line.is_text {
                let line = String::from_utf8_lossy(&line.bytes);
                events.extend(self.take(line.trim_ascii_end()));
            }
            others.clear();
        }
        events
    }

    fn take(&mut self, line: &str) -> Option<Event> {
        let answer = line.strip_prefix(MARKER)?.strip_prefix(' ')?;
        let (word, rest) = answer.split_once(' ').unwrap_or((answer, ""));
        match word {
            "system" => self.facts.platform = Platform::from_uname(rest),
            "found" => self.facts.version = Version::of_program(rest),
            "sum" => self.facts.sum = Some(rest.to_owned()).filter(|sum| !sum.is_empty()),
            "other" => self.facts.other = Some(printable(rest)),
            "ready" => return Some(Event::Ready),
            "has" => return rest.parse().ok().map(Event::Has),
            "done" => return Some(Event::Done),
            "failed" => return Some(Event::Failed(Failure::parse(rest))),
            _ => {}
        }
        None
    }
}

impl Failure {
    fn parse(text: &str) -> Self {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match word {
            "folder" => Self::Folder(printable(rest)),
            "write" => Self::Write(printable(rest)),
            "size" => Self::Size(printable(rest)),
            "sum" => Self::Sum,
            "run" => {
                let (status, said) = rest.split_once(' ').unwrap_or((rest, ""));
                Self::Run(status.parse().unwrap_or(-1), printable(said))
            }
            _ => Self::Unknown(printable(text)),
        }
    }
}

/// Returns a host's reason, shortened and without control characters. An empty reason is replaced by a sentence.
fn printable(text: &str) -> String {
    let shown = Printable::default().filter(text.as_bytes());
    let shown = String::from_utf8_lossy(&shown);
    let shown: String = shown.trim_ascii().chars().take(REASON_CHARS_MAX).collect();
    if shown.is_empty() { "the host does not say why".to_owned() } else { shown }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> (Vec<Event>, Facts) {
        let mut report = Report::default();
        (report.read(text.as_bytes()), report.facts)
    }

    #[test]
    fn a_hosts_answers_are_read_from_our_own_lines_alone() {
        let (events, facts) = read(
            "Welcome!\nROVE INSTALL\n ROVE INSTALL ready\nROVE INSTALLED ready\n\n\
             ROVE INSTALL system Linux x86_64\nROVE INSTALL found rove 0.2.0\n\
             ROVE INSTALL sum 9f86\nROVE INSTALL other /usr/bin/rove\nROVE INSTALL ready\r\n",
        );
        assert_eq!(events, [Event::Ready]);
        let wanted = Facts {
            platform: Platform::from_uname("Linux x86_64"),
            version: Version::parse("0.2.0"),
            sum: Some("9f86".to_owned()),
            other: Some("/usr/bin/rove".to_owned()),
        };
        assert_eq!(facts, wanted);
    }

    #[test]
    fn a_failure_has_a_kind_and_a_reason_without_controls() {
        let full = "No space left on device".to_owned();
        for (said, failure) in [
            ("write No space left on device", Failure::Write(full.clone())),
            ("folder \u{1b}[31mNo space left on device\u{7}", Failure::Folder(full)),
            ("write", Failure::Write("the host does not say why".to_owned())),
            ("size 12", Failure::Size("12".to_owned())),
            ("sum 60303a", Failure::Sum),
            ("run 126 sh: denied", Failure::Run(126, "sh: denied".to_owned())),
            ("run x y", Failure::Run(-1, "y".to_owned())),
            ("what", Failure::Unknown("what".to_owned())),
        ] {
            let (events, _) = read(&format!("ROVE INSTALL failed {said}\n"));
            assert_eq!(events, [Event::Failed(failure)], "{said}");
        }
        for (len, kept) in [(REASON_CHARS_MAX, 0), (REASON_CHARS_MAX + 1, 1)] {
            assert_eq!(printable(&"x".repeat(len)).len(), len - kept);
        }
    }

    proptest! {
        #[test]
        fn a_report_does_not_depend_on_how_its_bytes_come(cut in 0..80_usize) {
            let text = "x\nROVE INSTALL has 12\nROVE y\nROVE INSTALL done\nz";
            let (head, tail) = text.split_at(cut.min(text.len()));
            let mut parts = Report::default();
            let mut found = parts.read(head.as_bytes());
            found.extend(parts.read(tail.as_bytes()));
            prop_assert_eq!(found, read(text).0);
        }
    }
}
