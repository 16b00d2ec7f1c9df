//! All sessions of this user on this computer, asked at once.

use std::path::PathBuf;

use rove_platform::clock::Clock;
use rove_units::Instant;

use crate::ask::{AskError, Conversation};
use crate::directory::{self, DirectoryError, SessionName};
use crate::protocol::{Request, SessionStatus};

/// Most servers asked at the same time, each of which costs a descriptor.
/// Chosen: a sixteenth of what a process usually may have.
const AT_ONCE: usize = 64;

/// A session and how to reach it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The server's answer.
    pub status: SessionStatus,
    /// Its control socket.
    pub path: PathBuf,
}

/// The sessions found, and the servers and directories that gave none.
#[derive(Debug, Default)]
pub struct Survey {
    /// The sessions whose servers have answered, oldest first.
    pub sessions: Vec<Found>,
    /// The sessions whose servers have not.
    pub silent: Vec<(SessionName, AskError)>,
    /// Why directories are not trusted.
    pub errors: Vec<DirectoryError>,
}

/// Asks every server of this user, until `deadline` at most, and removes the sockets of those that are
/// gone.
pub fn survey(clock: Clock, deadline: Instant) -> Survey {
    let (directories, errors) = directory::existing();
    let sockets: Vec<_> = directories.iter().flat_map(|directory| directory.sockets()).collect();
    let mut survey = Survey { errors, ..Survey::default() };
    for group in sockets.chunks(AT_ONCE) {
        let asked: Vec<_> = group
            .iter()
            .map(|(_, path)| Conversation::start(clock, path, Request::Status))
            .collect();
        for ((name, path), conversation) in group.iter().zip(asked) {
            match conversation.and_then(|mut conversation| conversation.reply(deadline)) {
                Ok(answer) => {
                    survey.sessions.push(Found { status: answer.status, path: path.clone() });
                }
                Err(AskError::Gone) => {
                    // The server may also have ended just then and taken its socket along.
                    if let Err(AskError::Gone) = Conversation::start(clock, path, Request::Status) {
                        let _ = std::fs::remove_file(path);
                    }
                }
                Err(error) => survey.silent.push((*name, error)),
            }
        }
    }
    survey.sessions.sort_by_key(|found| (found.status.started_at, found.status.pid));
    survey
}
