//! Types the path of a copied file into a session: this one, or another of this user's.

use std::env;
use std::path::Path;

use rove_bootstrap::{LabelError, SessionRef, quote};
use rove_control::{AskError, Conversation, Found, ReplyError, Request, survey};
use rove_platform::clock::Clock;
use rove_session::{Server, Untyped};
use rove_units::{Duration, Instant};

use crate::drop_folder::{DropError, DropFolder};
use crate::server::host::Hosted;
use crate::sessions::choice::means;

/// How long another session's server may take to answer. Chosen: it answers between two turns of its loop.
const ANSWER_MAX: Duration = Duration::from_secs(2);

/// Why a file's path is not typed, in words for the user.
#[derive(Debug, thiserror::Error)]
pub(super) enum TypingError {
    /// The folder of copied files cannot be had.
    #[error(transparent)]
    Folder(#[from] DropError),
    /// The folder has no file of this name.
    #[error("there is no such file")]
    File,
    /// The path has characters that cannot be typed.
    #[error("the folder's name cannot be typed")]
    Path,
    /// The session or its program takes no text.
    #[error(transparent)]
    Session(#[from] Untyped),
    /// No session has such a name.
    #[error(transparent)]
    Name(#[from] LabelError),
    /// The user has no session.
    #[error("no session of yours runs on the host")]
    NoSession,
    /// The user has no session of this name or number.
    #[error("no session of yours on the host is {0}")]
    OtherName(SessionRef),
    /// The user has this many sessions, and has named none.
    #[error("{0} sessions of yours run there: name one, as in host:NAME")]
    Many(usize),
    /// The other session's server refuses, for this reason.
    #[error("{0}")]
    Refused(String),
    /// The other session's server does not answer.
    #[error(transparent)]
    Server(AskError),
}

/// Types the path of a file in the folder, and a space. `program` is the session's.
///
/// # Errors
///
/// Returns why nothing is typed, in words for the user.
pub(super) fn type_file(
    session: &mut Server,
    now: Instant,
    program: Option<&Hosted>,
    name: &str,
) -> Result<(), TypingError> {
    let folder = DropFolder::open(|name| env::var_os(name))?;
    let path = folder.path_of(name).ok_or(TypingError::File)?;
    let word = word(&path).ok_or(TypingError::Path)?;
    let tty = program.and_then(|hosted| hosted.master.modes());
    Ok(session.paste(now, tty, &format!("{word} "))?)
}

/// Returns a path as any shell reads it. `None` if it has a control character, or is no text.
pub(super) fn word(path: &Path) -> Option<String> {
    let path = path.to_str().filter(|it| !it.contains(char::is_control))?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,@:".contains(c);
    if path.chars().all(is_plain) {
        return Some(path.to_owned());
    }
    quote::any_shell(path.as_ref()).into_string().ok()
}

/// Another session of this user's on this computer.
#[derive(Debug)]
pub(super) struct OtherSession(Found);

impl OtherSession {
    /// Finds the session of this name or number, or the only one that has a program.
    ///
    /// # Errors
    ///
    /// Returns why there is not just one, in words for the user.
    pub(super) fn find(name: &str) -> Result<Self, TypingError> {
        let clock = Clock::start();
        let wanted: Option<SessionRef> = match name {
            "" => None,
            name => Some(name.parse()?),
        };
        let mut found = survey(clock, clock.now() + ANSWER_MAX).sessions;
        found.retain(|it| !it.status.attachment.no_program);
        found.retain(|it| wanted.as_ref().is_none_or(|one| means(one, &it.status)));
        match (found.pop(), found.len(), wanted) {
            (Some(one), 0, _) => Ok(Self(one)),
            (None, _, None) => Err(TypingError::NoSession),
            (None, _, Some(name)) => Err(TypingError::OtherName(name)),
            (Some(_), more, _) => Err(TypingError::Many(more + 1)),
        }
    }

    /// Types the path of a file in the folder into the session.
    ///
    /// # Errors
    ///
    /// Returns why nothing is typed, in words for the user.
    pub(super) fn type_file(&self, name: &str) -> Result<(), TypingError> {
        let clock = Clock::start();
        let request = Request::Drop(name.to_owned());
        let answer = Conversation::start(clock, &self.0.path, request)
            .and_then(|mut it| it.reply(clock.now() + ANSWER_MAX));
        match answer {
            Ok(_) => Ok(()),
            Err(AskError::Reply(ReplyError::Refused(reason))) => Err(TypingError::Refused(reason)),
            Err(error) => Err(TypingError::Server(error)),
        }
    }
}

#[cfg(test)]
mod tests;
