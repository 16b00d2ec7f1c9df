//! Types the path of a copied file into the session of this server.

use std::env;
use std::io;
use std::path::Path;

use rove_bootstrap::{LabelError, SessionRef, quote};
use rove_control::AskError;
use rove_session::{Server, Untyped};
use rove_units::Instant;

use crate::drop_folder::{DropError, DropFolder};
use crate::messages::reason;
use crate::server::host::Hosted;

/// Why a file's path is not typed, in words for the user.
#[derive(Debug, thiserror::Error)]
pub(super) enum TypingError {
    /// The folder of copied files cannot be used.
    #[error(transparent)]
    Folder(#[from] DropError),
    /// The folder has no file of this name.
    #[error("there is no such file")]
    File,
    /// The path has characters that cannot be typed.
    #[error("the folder's name cannot be typed")]
    Path,
    /// The session or its program must not get text at present.
    #[error(transparent)]
    Session(#[from] Untyped),
    /// The session's name is malformed.
    #[error(transparent)]
    Name(#[from] LabelError),
    /// The user has no session.
    #[error("no session of yours runs on the host")]
    NoSession,
    /// The user has no session of this name or number.
    #[error("no session of yours on the host is {0}")]
    OtherName(SessionRef),
    /// The user has this many sessions, and the request names none.
    #[error("{0} sessions of yours run there: name one, as in host:NAME")]
    Many(usize),
    /// A server that does not answer may have the wanted session.
    #[error("{0}")]
    Silent(String),
    /// The other session's server refuses, for this reason.
    #[error("{0}")]
    Refused(String),
    /// The other session's server gives no valid answer.
    #[error(transparent)]
    Server(AskError),
    /// No thread could be started to contact the other session's server.
    #[error("{}", reason(&.0.to_string()))]
    Thread(#[from] io::Error),
}

/// Types the path of a file in the folder of copied files, and a space. `program` is the session's program.
///
/// # Errors
///
/// Returns why the path is not typed, in words for the user.
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

/// Returns a path, quoted for any shell if it needs quotes. `None` if it contains a control character, or is not UTF-8.
pub(super) fn word(path: &Path) -> Option<String> {
    let path = path.to_str().filter(|it| !it.contains(char::is_control))?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,@:".contains(c);
    if path.chars().all(is_plain) {
        return Some(path.to_owned());
    }
    quote::any_shell(path.as_ref()).into_string().ok()
}

#[cfg(test)]
mod tests;
