//! The user's choice among sessions that run on a host.

use std::io;

use rove_bootstrap::{DetachedUse, HostOptions, NoSession, SessionRef, WantedSession};

use crate::bootstrap::error::BootstrapError;
use crate::messages::say;
use crate::question;

/// Asks the user which of several sessions on the host is meant; returns the options to log in to that one. `None` if
/// nothing was chosen. At a login that may also start a session, Enter asks for a new one. Without a terminal the
/// sessions are only listed.
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
        // The server of a session without a program offers none to choose from.
        WantedSession::Streams(_) => return None,
        WantedSession::New | WantedSession::Named(_) | WantedSession::Resumed(..) => {
            let ask = format!("go on with which? [1-{}, Enter: a new one] ", sessions.len());
            let Some(chosen) = question::choose_or_enter(&ask, sessions.len())? else {
                // The user knows of them, and wants none.
                return Some(HostOptions { detached: DetachedUse::Never, ..options.clone() });
            };
            (chosen, None)
        }
    };
    let session = SessionRef::Number(sessions[chosen].port.into());
    let session = WantedSession::Attached(Some(session), way);
    Some(HostOptions { session, ..options.clone() })
}
