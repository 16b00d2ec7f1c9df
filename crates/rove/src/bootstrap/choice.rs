//! The user's choice among sessions that run on a host.

use std::io;

use rove_bootstrap::{AttachWay, HostOptions, NoSession, SessionRef, WantedSession};

use crate::bootstrap::error::BootstrapError;
use crate::messages::say;
use crate::question;

/// Asks the user which of several sessions on the host is meant; returns the options to log in to that one. `None` if
/// nothing was chosen. Without a terminal the sessions are only listed.
pub(crate) fn offer(options: &HostOptions, error: &BootstrapError) -> Option<HostOptions> {
    let BootstrapError::NoSession(NoSession::SeveralSessions { sessions, .. }) = error else {
        return None;
    };
    for (number, session) in (1..).zip(sessions) {
        let line = format!("  {number}  port {}, {}", session.port, session.description);
        say(io::stderr(), &line);
    }
    let chosen = question::choose("which session?", sessions.len())?;
    let way = match options.session {
        WantedSession::Attached(_, way) => way,
        WantedSession::New | WantedSession::Named(_) => AttachWay::TakeOver,
    };
    let session = SessionRef::Number(sessions[chosen].port.into());
    let session = WantedSession::Attached(Some(session), way);
    Some(HostOptions { session, ..options.clone() })
}
