//! Finds another session of this user, and types the path of a copied file into it.
//!
//! Threads contact the other servers. Otherwise this session's keys would wait for a suspended server.

use rove_bootstrap::SessionRef;
use rove_control::{AskError, Conversation, Found, ReplyError, Request, survey};
use rove_platform::clock::Clock;
use rove_platform::event_loop::Interest;
use rove_units::Duration;

use crate::errand::{Errand, Errands};
use crate::server::typing::TypingError;
use crate::sessions::choice::{describe_silent, means, silent};
use crate::sessions::computer::Computer;

/// Longest wait for another session's server to answer. Chosen: a running server answers within a turn of its loop.
const ANSWER_MAX: Duration = Duration::from_secs(2);

/// Another session on this computer, or the search for it.
#[derive(Debug)]
pub(super) enum OtherSession {
    /// A thread asks all servers of this user.
    Sought(Errand<Result<Box<Found>, TypingError>>),
    Found(Box<Found>),
}

impl OtherSession {
    /// Begins to look for the session with this name or number that runs a program. An empty name means the only such
    /// session.
    ///
    /// # Errors
    ///
    /// Returns why the search cannot begin, in words for the user.
    pub(super) fn seek(errands: &Errands, name: &str) -> Result<Self, TypingError> {
        let wanted: Option<SessionRef> = match name {
            "" => None,
            name => Some(name.parse()?),
        };
        Ok(Self::Sought(errands.begin("seek", move || find(wanted))?))
    }

    /// Returns whether the session is found.
    ///
    /// # Errors
    ///
    /// Returns why there is no such session, or that there are several, in words for the user.
    pub(super) fn is_found(&mut self) -> Result<bool, TypingError> {
        if let Self::Sought(errand) = self
            && let Some(found) = errand.take()
        {
            *self = Self::Found(found??);
        }
        Ok(matches!(self, Self::Found(_)))
    }

    /// Asks the found session's server to type the path of the file `name` in the drop folder.
    ///
    /// # Errors
    ///
    /// Returns why the path is not typed, in words for the user.
    pub(super) fn type_file(
        self,
        errands: &Errands,
        name: String,
    ) -> Result<Errand<Result<(), TypingError>>, TypingError> {
        let Self::Found(found) = self else { return Err(TypingError::NoSession) };
        Ok(errands.begin("type", move || type_into(&found, name))?)
    }

    /// Returns the descriptor to wait for while the search lasts. When it is ready, call [`OtherSession::is_found`].
    pub(super) fn interest(&self) -> Option<Interest<'_>> {
        match self {
            Self::Sought(errand) => Some(errand.interest()),
            Self::Found(_) => None,
        }
    }
}

fn find(wanted: Option<SessionRef>) -> Result<Box<Found>, TypingError> {
    let clock = Clock::start();
    let mut survey = survey(clock, clock.now() + ANSWER_MAX);
    survey.sessions.retain(|it| {
        let is_meant = wanted.as_ref().is_none_or(|one| means(one, &it.status));
        is_meant && !it.status.attachment.no_program
    });
    match (survey.sessions.pop(), survey.sessions.len(), &wanted) {
        (Some(one), 0, _) => Ok(Box::new(one)),
        (Some(_), more, _) => Err(TypingError::Many(more + 1)),
        (None, ..) => Err(match (silent(wanted.as_ref(), &survey), wanted) {
            (Some(silent), _) => TypingError::Silent(describe_silent(silent, &Computer::ours())),
            (None, Some(name)) => TypingError::OtherName(name),
            (None, None) => TypingError::NoSession,
        }),
    }
}

fn type_into(session: &Found, name: String) -> Result<(), TypingError> {
    let clock = Clock::start();
    let answer = Conversation::start(clock, &session.path, Request::Drop(name))
        .and_then(|mut it| it.reply(clock.now() + ANSWER_MAX));
    match answer {
        Ok(_) => Ok(()),
        Err(AskError::Reply(ReplyError::Refused(reason))) => Err(TypingError::Refused(reason)),
        Err(error) => Err(TypingError::Server(error)),
    }
}
