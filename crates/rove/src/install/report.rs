//! What a host says while a program is copied to it. All of it is the host's word, and shown as text at most.

use crate::bootstrap::challenge::Challenge;
use crate::bootstrap::line::LineReader;
use crate::bootstrap::printable::Printable;
use crate::bootstrap::remote::START;
use crate::install::far::MARKER;
use crate::install::platform::Platform;
use crate::install::version::Version;

/// Longest reason of a host that is shown, in characters. Chosen: three lines of a terminal.
const REASON_CHARS_MAX: usize = 240;

/// What a host has told of itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// What it is, if that has a plain name.
    pub(crate) platform: Option<Platform>,
    /// The version of the rove that is there, if it says one.
    pub(crate) version: Option<Version>,
    /// The SHA-256 of that, if the host can make one.
    pub(crate) sum: Option<String>,
    /// Another rove, which the host's PATH finds first.
    pub(crate) other: Option<String>,
}

/// What a line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The host waits for the program.
    Ready,
    /// So many bytes of it have arrived.
    Has(usize),
    /// The program is in its place.
    Done,
    /// It is not, and all is as it was.
    Failed(Failure),
}

/// Why a host did not take the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// There is no folder for it.
    Folder(String),
    /// It cannot be written.
    Write(String),
    /// So many bytes have arrived.
    Size(String),
    /// Other bytes have arrived.
    Sum,
    /// It does not run: the shell's status, and what was said.
    Run(i32, String),
    /// For a reason that we do not know.
    Unknown(String),
}

/// A reader of the host's standard output.
pub(crate) struct Report {
    challenge: Challenge,
    lines: LineReader,
    started: bool,
    facts: Facts,
}

impl Report {
    /// Creates a reader for the lines of the run that drew this word.
    pub(crate) fn new(challenge: Challenge) -> Self {
        let lines = LineReader::default();
        Self { challenge, lines, started: false, facts: Facts::default() }
    }

    /// Returns what has been told.
    pub(crate) const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Takes bytes; what is for the user goes to `text`.
    pub(crate) fn read(&mut self, bytes: &[u8], text: &mut Vec<u8>) -> Vec<Event> {
        let mut events = Vec::new();
        for &byte in bytes {
            if byte != b'\n' {
                self.lines.push(byte, text);
                continue;
            }
            let line = self.lines.end();
            let bytes = String::from_utf8_lossy(&line.bytes);
            if line.is_text {
                text.push(byte);
            } else if !self.take(bytes.trim_ascii_end(), &mut events) {
                text.extend(&line.bytes);
                text.push(byte);
            }
        }
        events
    }

    /// Takes a line; returns whether it was ours.
    fn take(&mut self, line: &str, events: &mut Vec<Event>) -> bool {
        if self.challenge.answer(START, line) == Some("") {
            self.started = true;
            return true;
        }
        let answer = self.challenge.answer(MARKER, line).and_then(|rest| rest.strip_prefix(' '));
        let Some(answer) = answer.filter(|_| self.started) else { return false };
        let (word, rest) = answer.split_once(' ').unwrap_or((answer, ""));
        match word {
            "system" => self.facts.platform = Platform::from_uname(rest),
            "found" => self.facts.version = Version::of_program(rest),
            "sum" => self.facts.sum = Some(rest.to_owned()).filter(|sum| !sum.is_empty()),
            "other" => self.facts.other = Some(printable(rest)),
            "ready" => events.push(Event::Ready),
            "has" => events.extend(rest.parse().ok().map(Event::Has)),
            "done" => events.push(Event::Done),
            "failed" => events.push(Event::Failed(Failure::parse(rest))),
            _ => return false,
        }
        true
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

/// Returns what a host says as a short text.
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

    fn report() -> Report {
        Report::new(Challenge::from_bytes([0; 16]))
    }

    /// Writes `C` as the run's word.
    fn hear(report: &mut Report, text: &str) -> (Vec<Event>, String) {
        let text = text.replace(" C", &format!(" {}", "0".repeat(32)));
        let mut shown = Vec::new();
        let events = report.read(text.as_bytes(), &mut shown);
        (events, String::from_utf8(shown).unwrap())
    }

    #[test]
    fn what_a_host_tells_is_taken_from_our_own_lines_alone() {
        let mut report = report();
        let (events, shown) = hear(
            &mut report,
            "Welcome!\nROVE INSTALL C ready\nROVE INSTALL 1234 ready\n\nROVE START C\n\
             ROVE INSTALL C system Linux x86_64\nROVE INSTALL C found rove 0.2.0\n\
             ROVE INSTALL C sum 9f86\nROVE INSTALL C other /usr/bin/rove\nROVE INSTALL C ready\r\n",
        );
        assert_eq!(events, [Event::Ready]);
        let early = format!("ROVE INSTALL {} ready\n", "0".repeat(32));
        assert_eq!(shown, format!("Welcome!\n{early}ROVE INSTALL 1234 ready\n\n"));
        let wanted = Facts {
            platform: Platform::from_uname("Linux x86_64"),
            version: Version::parse("0.2.0"),
            sum: Some("9f86".to_owned()),
            other: Some("/usr/bin/rove".to_owned()),
        };
        assert_eq!(*report.facts(), wanted);
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
            let mut report = report();
            hear(&mut report, "ROVE START C\n");
            let (events, _) = hear(&mut report, &format!("ROVE INSTALL C failed {said}\n"));
            assert_eq!(events, [Event::Failed(failure)], "{said}");
        }
        for (len, kept) in [(REASON_CHARS_MAX, 0), (REASON_CHARS_MAX + 1, 1)] {
            assert_eq!(printable(&"x".repeat(len)).len(), len - kept);
        }
    }

    proptest! {
        #[test]
        fn a_report_does_not_depend_on_how_its_bytes_come(cut in 0..200_usize) {
            let text = "x\nROVE START C\nROVE INSTALL C has 12\nROVE y\nROVE INSTALL C done\nz";
            let mut whole = report();
            let (events, shown) = hear(&mut whole, text);
            let text = text.replace(" C", &format!(" {}", "0".repeat(32)));
            let (head, tail) = text.split_at(cut.min(text.len()));
            let mut parts = report();
            let mut both = Vec::new();
            let mut found = parts.read(head.as_bytes(), &mut both);
            found.extend(parts.read(tail.as_bytes(), &mut both));
            prop_assert_eq!(found, events);
            prop_assert_eq!(String::from_utf8(both).unwrap(), shown);
        }
    }
}
