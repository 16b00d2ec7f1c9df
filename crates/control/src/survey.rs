//! Asks the servers of all of this user's sessions on this computer at once.

use std::path::PathBuf;

use rove_platform::clock::Clock;
use rove_units::Instant;

use crate::ask::{AskError, Conversation};
use crate::directory::{self, DirectoryError, SessionName, label};
use crate::protocol::{Request, SessionStatus};

/// Most servers asked at the same time, each of which takes a descriptor. Chosen: a sixteenth of a process's usual
/// limit of descriptors.
const AT_ONCE: usize = 64;

/// A session whose server answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The server's description of the session.
    pub status: SessionStatus,
    /// The path of the session's control socket.
    pub path: PathBuf,
}

/// A session whose server did not answer.
#[derive(Debug)]
pub struct Silent {
    /// The process and the port of the server.
    pub name: SessionName,
    /// The name that the user gave the session. `None` if it has no name, or its server's version records none.
    pub label: Option<String>,
    /// Why there is no answer.
    pub error: AskError,
}

/// The result of a survey: sessions, servers that did not answer, and directories that are not trusted.
#[derive(Debug, Default)]
pub struct Survey {
    /// The sessions whose servers answered, oldest first.
    pub sessions: Vec<Found>,
    /// The sessions whose servers did not answer.
    pub silent: Vec<Silent>,
    /// The reasons for which directories are not trusted.
    pub errors: Vec<DirectoryError>,
}

/// Asks every other server of this user for its status, and waits for the replies until `deadline`. Removes the sockets
/// of servers that have ended.
pub fn survey(clock: Clock, deadline: Instant) -> Survey {
    let (directories, errors) = directory::existing();
    let sockets = directories.iter().flat_map(|directory| directory.sockets());
    // If this process is itself a server, it cannot answer while it waits here.
    let sockets: Vec<_> = sockets.filter(|(name, _)| name.pid != std::process::id()).collect();
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
                    // This connection alone may have ended early, so the server counts as gone after a second failure.
                    if let Err(AskError::Gone) = Conversation::start(clock, path, Request::Status) {
                        let _ = std::fs::remove_file(path);
                        directory::write_label(path, None);
                    }
                }
                Err(error) => survey.silent.push(Silent { name: *name, label: label(path), error }),
            }
        }
    }
    survey.sessions.sort_by_key(|found| (found.status.started_at, found.status.pid));
    survey
}
