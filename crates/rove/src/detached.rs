//! The notice at a login that names the user's sessions without a client, with the commands that resume and end them.

use core::fmt::Write;
use std::ffi::OsStr;

use rove_control::survey;
use rove_platform::clock::Clock;
use rove_units::Duration;

use crate::attach::waits_for_client;
use crate::messages::wrapped;
use crate::sessions::describe_detached;
use crate::utmp;

/// Longest wait for the servers' answers, which delays the login. Chosen: a hundred times the usual time, and less than
/// a person notices.
const PATIENCE: Duration = Duration::from_millis(200);
/// Most sessions that the notice at a login names. Chosen: the notice leaves room on the screen.
const NAMED_MAX: usize = 5;
/// The escape sequence of the notice's colours: white on blue, as in the notice bar.
const COLORS: &str = "\x1b[37;44m";

/// A session without a client.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Detached {
    /// The process number of the session's server.
    pid: u32,
    description: String,
    /// Whether the server is a rove server, so that `rove kill` can end the session.
    is_ours: bool,
}

/// Returns the notice for this user, for a terminal of this width. The text is empty if each session has a client.
pub(crate) fn notice(user: &OsStr, columns: usize) -> String {
    let clock = Clock::start();
    let survey = survey(clock, clock.now() + PATIENCE);
    let mut known: Vec<u32> = survey.silent.iter().map(|silent| silent.name.pid).collect();
    let mut sessions = Vec::new();
    for found in &survey.sessions {
        let status = &found.status;
        known.push(status.pid);
        if waits_for_client(status) {
            let description = describe_detached(status);
            sessions.push(Detached { pid: status.pid, description, is_ours: true });
        }
    }
    // A server of Mosh has no control socket, but an entry in utmp (the list of logged-in users).
    for pid in utmp::detached_servers(user) {
        if !known.contains(&pid) {
            let description = format!("mosh [{pid}]");
            sessions.push(Detached { pid, description, is_ours: false });
        }
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has_rove = std::env::split_paths(&path).any(|folder| folder.join("rove").is_file());
    text(&sessions, has_rove, columns)
}

/// Returns the notice that names these sessions; empty without a session. `has_rove` lets the notice name `rove kill`.
fn text(sessions: &[Detached], has_rove: bool, columns: usize) -> String {
    let Some(first) = sessions.first() else { return String::new() };
    let is_one = sessions.len() == 1;
    let (noun, have) = if is_one { ("session", "has") } else { ("sessions", "have") };
    let named: Vec<&str> = sessions.iter().take(NAMED_MAX).map(|it| &*it.description).collect();
    let mut line = format!(
        "rove: {} {noun} of yours on this computer {have} no client: {}",
        sessions.len(),
        named.join("; ")
    );
    if sessions.len() > NAMED_MAX {
        let _ = write!(line, "; and {} more", sessions.len() - NAMED_MAX);
    }
    if sessions.iter().any(|session| session.is_ours) {
        line += ". To go on with one: rove attach and this host's name";
    }
    let command = if has_rove && first.is_ours { "rove kill" } else { "kill" };
    let _ = write!(line, ". To end one: {command} {}", first.pid);
    if has_rove && sessions.iter().filter(|session| session.is_ours).count() > 1 {
        line += "; all: rove kill --detached";
    }
    let lines = wrapped(&line, columns);
    let colored = lines.lines().map(|line| format!("{COLORS}{line}\x1b[m\n"));
    colored.collect::<String>() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(pid: u32, is_ours: bool) -> Detached {
        Detached { pid, description: format!("session {pid}"), is_ours }
    }

    #[test]
    fn the_notice_names_sessions_and_says_how_to_end_one() {
        for (sessions, has_rove, wanted) in [
            (
                vec![session(17, true)],
                true,
                &["1 session of", "session 17", "rove attach", "rove kill 17"] as &[&str],
            ),
            (vec![session(17, true)], false, &["1 session of", "one: kill 17"]),
            (vec![session(17, false)], true, &["1 session of", "one: kill 17"]),
            (
                vec![session(17, true), session(18, true), session(19, false)],
                true,
                &["3 sessions of", "session 18", "session 19", "rove kill --detached"],
            ),
        ] {
            let text = text(&sessions, has_rove, usize::MAX);
            for wanted in wanted {
                assert!(text.contains(wanted), "{wanted}: {text}");
            }
        }
        assert_eq!(text(&[], true, 80), "");
    }

    #[test]
    fn the_notice_is_broken_between_words() {
        let session = session(17, true);
        let description = "17 (port 60001, last contact 2 h ago): -bash".to_owned();
        let text = text(&[Detached { description, ..session }], true, 80);
        assert_eq!(
            text,
            "\x1b[37;44mrove: 1 session of yours on this computer has no client: 17 (port 60001, last\x1b[m\n\
             \x1b[37;44mcontact 2 h ago): -bash. To go on with one: rove attach and this host's name. To\x1b[m\n\
             \x1b[37;44mend one: rove kill 17\x1b[m\n\n"
        );
    }

    #[test]
    fn a_crowd_of_sessions_does_not_fill_the_screen() {
        for (count, more) in [(NAMED_MAX, false), (NAMED_MAX + 1, true)] {
            let sessions = vec![session(17, true); count];
            let text = text(&sessions, true, usize::MAX);
            assert_eq!(text.contains("and 1 more"), more, "{text}");
            assert_eq!(text.trim_end().lines().count(), 1, "{text}");
        }
    }
}
