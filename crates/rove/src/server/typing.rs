//! Types the path of a copied file into a session: this one, or another of this user's.

use std::env;
use std::path::Path;

use rove_bootstrap::{SessionRef, quote};
use rove_control::{AskError, Conversation, Found, ReplyError, Request, survey};
use rove_platform::clock::Clock;
use rove_session::Server;
use rove_units::{Duration, Instant};

use crate::drop_folder::DropFolder;
use crate::server::host::Hosted;
use crate::sessions::choice::means;

/// How long another session's server may take to answer. Chosen: it answers between two turns of its loop.
const ANSWER_MAX: Duration = Duration::from_secs(2);

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
) -> Result<(), String> {
    let folder = DropFolder::open(|name| env::var_os(name)).map_err(|error| error.to_string())?;
    let path = folder.path_of(name).ok_or("there is no such file")?;
    let word = word(&path).ok_or("the folder's name cannot be typed")?;
    let tty = program.and_then(|hosted| hosted.master.modes());
    session.paste(now, tty, &format!("{word} ")).map_err(|error| error.to_string())
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
    pub(super) fn find(name: &str) -> Result<Self, String> {
        let clock = Clock::start();
        let wanted: Option<SessionRef> = match name {
            "" => None,
            name => Some(name.parse().map_err(|error| format!("{error}"))?),
        };
        let mut found = survey(clock, clock.now() + ANSWER_MAX).sessions;
        found.retain(|it| !it.status.attachment.no_program);
        found.retain(|it| wanted.as_ref().is_none_or(|one| means(one, &it.status)));
        match (found.pop(), found.len(), wanted) {
            (Some(one), 0, _) => Ok(Self(one)),
            (None, _, None) => Err("no session of yours runs on the host".to_owned()),
            (None, _, Some(name)) => Err(format!("no session of yours on the host is {name}")),
            (Some(_), more, _) => {
                let count = more + 1;
                Err(format!("{count} sessions of yours run there: name one, as in host:NAME"))
            }
        }
    }

    /// Types the path of a file in the folder into the session.
    ///
    /// # Errors
    ///
    /// Returns why nothing is typed, in words for the user.
    pub(super) fn type_file(&self, name: &str) -> Result<(), String> {
        let clock = Clock::start();
        let request = Request::Drop(name.to_owned());
        let answer = Conversation::start(clock, &self.0.path, request)
            .and_then(|mut it| it.reply(clock.now() + ANSWER_MAX));
        match answer {
            Ok(_) => Ok(()),
            Err(AskError::Reply(ReplyError::Refused(reason))) => Err(reason),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests;
