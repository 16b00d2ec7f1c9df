//! The user's choice among sessions that run on a host.

use std::io;

use rove_bootstrap::{HostOptions, NoSession, SessionRef, WantedSession};

use crate::bootstrap::error::BootstrapError;
use crate::messages::say;
use crate::question;

/// Asks which session is meant, if several are; returns the login for that one. Without a terminal nobody is asked, and the
/// sessions are only named.
pub(crate) fn offer(options: &HostOptions, error: &BootstrapError) -> Option<HostOptions> {
    let BootstrapError::NoSession(NoSession::SeveralSessions { sessions, .. }) = error else {
        return None;
    };
    for (number, session) in (1..).zip(sessions) {
        let line = format!("  {number}  port {}, {}", session.port, session.description);
        say(io::stderr(), &line);
    }
    let chosen = question::choose("which session?", sessions.len())?;
    let session = WantedSession::Attached(Some(SessionRef::Number(sessions[chosen].port.into())));
    Some(HostOptions { session, ..options.clone() })
}
