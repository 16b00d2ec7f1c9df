//! Asks the user which of a host's running sessions to attach to.

use std::io;

use rove_bootstrap::{DetachedUse, HostOptions, NoSession, SessionRef, WantedSession};

use crate::bootstrap::error::BootstrapError;
use crate::messages::say;
use crate::question;

/// Lists the sessions of `error` and asks the user to choose one. Returns the options to log in to the chosen session.
/// `None` for another error, without a choice, or without a terminal. At a login that may also start a session, Enter
/// asks for a new session.
pub(crate) fn offer(options: &HostOptions, error: &BootstrapError) -> Option<HostOptions> {
    let BootstrapError::NoSession(NoSession::SeveralSessions { sessions, .. }) = error else {
        return None;
    };
    for (number, session) in (1..).zip(sessions) {
        let line = format!("  {number}  port {}, {}", session.port, session.description);
        say(io::stderr(), &line);
    }
    let (chosen, way) = match options.session {
        WantedSession::Attached(_, way) => {
            (question::choose("which session?", sessions.len())?, way)
        }
        // A login for a session without a program never offers a choice.
        WantedSession::Streams(_) => return None,
        WantedSession::New | WantedSession::Named(_) | WantedSession::Resumed(..) => {
            let ask = format!("go on with which? [1-{}, Enter: a new one] ", sessions.len());
            let Some(chosen) = question::choose_or_enter(&ask, sessions.len())? else {
                // The next login must not offer the same sessions again.
                return Some(HostOptions { detached: DetachedUse::Never, ..options.clone() });
            };
            (chosen, None)
        }
    };
    let session = SessionRef::Number(sessions[chosen].port.into());
    let session = WantedSession::Attached(Some(session), way);
    Some(HostOptions { session, ..options.clone() })
}
