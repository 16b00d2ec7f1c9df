//! Selects the sessions that `rove kill` ends.

use rove_bootstrap::SessionRef;
use rove_control::{Found, SessionStatus, Silent, State, Survey};
use rove_units::Duration;

use crate::sessions::computer::Computer;

/// The user's choice of sessions that `rove kill` ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Sessions with these names, process numbers or UDP ports.
    These(Vec<SessionRef>),
    /// All sessions of this user.
    All,
    /// Detached sessions whose client has been silent for some time.
    Detached {
        /// The shortest silence of the client.
        silent_for: Duration,
    },
}

/// Returns whether `one` is the name, process number or UDP port of this session.
pub(crate) fn means(one: &SessionRef, status: &SessionStatus) -> bool {
    match one {
        SessionRef::Named(name) => status.attachment.session.as_ref() == Some(&name.to_string()),
        SessionRef::Number(number) => status.pid == *number || u32::from(status.port) == *number,
    }
}

/// Returns the sessions that have this name or number. A number may be one session's port and another's process number.
fn meant<'a>(one: &SessionRef, sessions: &'a [Found]) -> impl Iterator<Item = &'a Found> {
    sessions.iter().filter(move |found| means(one, &found.status))
}

/// Returns the first session whose server does not answer, if any. `wanted` limits this to the sessions that it names.
pub(crate) fn silent<'a>(wanted: Option<&SessionRef>, survey: &'a Survey) -> Option<&'a Silent> {
    survey.silent.iter().find(|Silent { name, label, .. }| match wanted {
        Some(SessionRef::Number(number)) => name.pid == *number || u32::from(name.port) == *number,
        Some(SessionRef::Named(wanted)) => label.as_ref() == Some(&wanted.to_string()),
        None => true,
    })
}

/// Returns the message about a server that does not answer.
pub(crate) fn describe_silent(silent: &Silent, computer: &Computer) -> String {
    let Silent { name, error, .. } = silent;
    let (on, pid, port) = (computer.on(), name.pid, name.port);
    let end = computer.command("To end it", &format!("kill {pid}"));
    format!("session {pid} (port {port}){on}: {error}. {end}")
}

impl Choice {
    /// Returns the chosen sessions, each once, and the chosen names and numbers that match no session or several.
    pub(super) fn among<'a>(&self, sessions: &'a [Found]) -> (Vec<&'a Found>, Vec<&SessionRef>) {
        match self {
            Self::These(these) => {
                let (clear, unclear): (Vec<_>, Vec<_>) =
                    these.iter().partition(|one| meant(one, sessions).count() == 1);
                let is_meant = |found: &&Found| clear.iter().any(|one| means(one, &found.status));
                (sessions.iter().filter(is_meant).collect(), unclear)
            }
            Self::All => (sessions.iter().collect(), Vec::new()),
            Self::Detached { silent_for } => {
                let is_meant = |found: &&Found| {
                    let silence = found.status.contact_age_seconds.map(Duration::from_secs);
                    found.status.state == State::Detached
                        && silence.is_some_and(|silence| silence >= *silent_for)
                };
                (sessions.iter().filter(is_meant).collect(), Vec::new())
            }
        }
    }
}

/// Returns the message about a name or number that matches no session or several.
pub(super) fn why_missing(missing: &SessionRef, computer: &Computer, survey: &Survey) -> String {
    if let Some(silent) = silent(Some(missing), survey) {
        return describe_silent(silent, computer);
    }
    let (on, list) = (computer.on(), computer.list_command());
    let meant: Vec<_> = meant(missing, &survey.sessions).map(|it| it.status.pid).collect();
    if let [one, other, ..] = meant[..] {
        return format!(
            "{missing} means sessions {one} and {other}{on}; {list} shows their other numbers"
        );
    }
    let SessionRef::Number(number) = *missing else {
        return format!("no session of yours{on} has the name {missing}; {list} shows them");
    };
    format!("no session of yours{on} has the process number or port {number}; {list} shows them")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rove_control::{AskError, SessionName, SessionStatus};

    fn session(pid: u32, port: u16, state: State, silence: Option<u64>) -> Found {
        let contact_age_seconds = silence;
        let status = SessionStatus { pid, port, state, contact_age_seconds, ..Default::default() };
        Found { status, ..Found::default() }
    }

    #[test]
    fn sessions_are_chosen_by_number_or_by_having_no_client() {
        let sessions = [
            session(10, 60_001, State::Attached, Some(1)),
            session(11, 60_002, State::Detached, Some(3600)),
            session(12, 60_003, State::Detached, Some(90)),
            session(13, 60_004, State::Waiting, None),
            // The process number is another session's port.
            session(60_001, 60_005, State::Attached, Some(1)),
        ];
        let detached = |seconds| Choice::Detached { silent_for: Duration::from_secs(seconds) };
        let these = |numbers: &[u32]| {
            Choice::These(numbers.iter().map(|&number| SessionRef::Number(number)).collect())
        };
        let cases: [(Choice, &[u32], &[u32]); 9] = [
            (these(&[10]), &[10], &[]),
            (these(&[60_002, 13, 11]), &[11, 13], &[]),
            (these(&[7, 60_009]), &[], &[7, 60_009]),
            (these(&[60_001, 60_005]), &[60_001], &[60_001]),
            (Choice::All, &[10, 11, 12, 13, 60_001], &[]),
            (detached(0), &[11, 12], &[]),
            (detached(90), &[11, 12], &[]),
            (detached(91), &[11], &[]),
            (detached(3601), &[], &[]),
        ];
        for (choice, pids, missing) in cases {
            let (found, absent) = choice.among(&sessions);
            let found: Vec<u32> = found.iter().map(|found| found.status.pid).collect();
            let absent: Vec<String> = absent.iter().map(ToString::to_string).collect();
            let missing: Vec<String> = missing.iter().map(ToString::to_string).collect();
            assert_eq!((&found[..], absent), (pids, missing), "{choice:?}");
        }
    }

    #[test]
    fn a_number_that_is_nobodys_is_explained() {
        let survey = Survey::default();
        let (here, far) = (Computer::default(), Computer::host("far"));
        for (computer, part) in [
            (&here, "has the process number or port 7; rove list shows them"),
            (&far, "no session of yours on far has"),
            (&far, "; rove list far shows them"),
        ] {
            let sentence = why_missing(&SessionRef::Number(7), computer, &survey);
            assert!(sentence.contains(part), "{sentence}");
        }
    }

    #[test]
    fn a_number_of_two_sessions_is_refused_with_both() {
        let sessions = [(10, 60_001), (60_001, 60_002)]
            .map(|(pid, port)| session(pid, port, State::Attached, None))
            .to_vec();
        let survey = Survey { sessions, ..Survey::default() };
        let sentence = why_missing(&SessionRef::Number(60_001), &Computer::default(), &survey);
        assert!(sentence.starts_with("60001 means sessions 10 and 60001; rove list"), "{sentence}");
    }

    #[test]
    fn a_silent_session_is_named_to_those_alone_who_may_mean_it() {
        let name = SessionName { pid: 17, port: 60_001 };
        let silent = |label: Option<&str>| {
            let label = label.map(str::to_owned);
            Survey {
                silent: vec![Silent { name, label, error: AskError::Silent }],
                ..Survey::default()
            }
        };
        for (label, wanted, is_named) in [
            (Some("work"), "work", true),
            (Some("work"), "wrok", false),
            (None, "work", false),
            (None, "17", true),
            (Some("work"), "60001", true),
            (Some("work"), "60002", false),
        ] {
            let survey = silent(label);
            let sentence = why_missing(&wanted.parse().unwrap(), &Computer::default(), &survey);
            assert_eq!(sentence.contains("session 17 (port 60001)"), is_named, "{sentence}");
            assert_eq!(sentence.contains("no session of yours"), !is_named, "{sentence}");
        }
    }
}
