//! Asks the servers of all of this user's sessions on this computer at once.

use std::path::{Path, PathBuf};

use rove_platform::clock::Clock;
use rove_units::{Duration, Instant};

use crate::ask::{AskError, Conversation};
use crate::directory::{self, DirectoryError, SessionName, label};
use crate::protocol::{Answer, Request, SessionStatus};

/// Most servers asked at the same time, each of which takes a descriptor. Chosen: a sixteenth of a process's usual
/// limit of descriptors.
const AT_ONCE: usize = 64;
/// Least time for the replies of a group of servers, even if earlier groups have used up the time until the deadline.
/// Chosen: far longer than a server needs.
const GRACE: Duration = Duration::from_millis(200);
/// How many times a server that has closed a connection is asked again. Chosen: a server keeps eight connections, and
/// few processes ask at the same time.
const TRIES_AGAIN: usize = 3;

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
    /// The name that the user gave the session. `None` if it has no name, or its server is too old to record names.
    pub label: Option<String>,
    /// Why the server gave no usable answer.
    pub error: AskError,
}

/// The result of [`survey()`]: sessions, servers that did not answer, and directories that are not trusted.
#[derive(Debug, Default)]
pub struct Survey {
    /// The sessions whose servers answered, oldest first.
    pub sessions: Vec<Found>,
    /// The sessions whose servers did not answer.
    pub silent: Vec<Silent>,
    /// The reasons for which directories are not trusted.
    pub errors: Vec<DirectoryError>,
}

/// Asks every other server of this user for its status, and waits for the replies until `deadline`. After the deadline,
/// each further group of 64 servers has only 200 ms. Removes the sockets of servers that have ended.
pub fn survey(clock: Clock, deadline: Instant) -> Survey {
    let (directories, errors) = directory::existing();
    let sockets = directories.iter().flat_map(|directory| directory.sockets());
    // If this process is itself a server, it cannot answer while it waits here.
    let sockets: Vec<_> = sockets.filter(|(name, _)| name.pid != std::process::id()).collect();
    Survey { errors, ..ask(clock, &sockets, deadline, GRACE) }
}

type Socket = (SessionName, PathBuf);

/// Asks servers. After the deadline, each further group of them has the time `grace`.
fn ask(clock: Clock, sockets: &[Socket], mut deadline: Instant, grace: Duration) -> Survey {
    let mut survey = Survey::default();
    for group in sockets.chunks(AT_ONCE) {
        let asked: Vec<_> = group
            .iter()
            .map(|(_, path)| Conversation::start(clock, path, Request::Status))
            .collect();
        for ((name, path), conversation) in group.iter().zip(asked) {
            let answer = match conversation.and_then(|mut it| it.reply(deadline)) {
                Err(AskError::Closed) => ask_again(clock, path, deadline),
                answer => answer,
            };
            match answer {
                Ok(answer) => {
                    survey.sessions.push(Found { status: answer.status, path: path.clone() });
                }
                Err(AskError::Gone) => {
                    let _ = std::fs::remove_file(path);
                    directory::write_label(path, None);
                }
                Err(error) => survey.silent.push(Silent { name: *name, label: label(path), error }),
            }
        }
        deadline = deadline.max(clock.now() + grace);
    }
    survey.sessions.sort_by_key(|found| (found.status.started_at, found.status.pid));
    survey
}

/// Asks a server again that has closed the connection, because a server with too many connections closes the oldest.
fn ask_again(clock: Clock, path: &Path, deadline: Instant) -> Result<Answer, AskError> {
    for _ in 0..TRIES_AGAIN {
        let conversation = Conversation::start(clock, path, Request::Status);
        match conversation.and_then(|mut it| it.reply(deadline)) {
            Err(AskError::Closed) => {}
            answer => return answer,
        }
    }
    Err(AskError::Silent)
}

#[cfg(test)]
mod tests {
    use std::io::{self, ErrorKind, Read, Write};
    use std::os::unix::net::UnixListener;
    use std::sync::{Arc, Barrier};
    use std::thread;

    use rove_rig::scratch::Scratch;
    use rove_units::Duration;

    use super::*;
    use crate::protocol::encode_reply;

    #[test]
    fn a_server_that_does_not_answer_leaves_time_for_those_asked_after_it() {
        let scratch = Scratch::new();
        let bind = |pid: u32| {
            let path = scratch.path(&format!("socket-{pid}"));
            let listener = UnixListener::bind(&path).unwrap();
            ((SessionName { pid, port: 1 }, path), listener)
        };
        let (mute, _mute) = bind(1);
        let mut sockets = vec![mute];
        // The last servers answer only after all of them have been asked.
        let are_asked = Arc::new(Barrier::new(10));
        let answering = (2..).take(AT_ONCE + 9).map(bind).map(|(socket, listener)| {
            sockets.push(socket);
            let are_asked = (sockets.len() > AT_ONCE).then(|| Arc::clone(&are_asked));
            thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let _ = stream.read(&mut [0; 4096]);
                are_asked.iter().for_each(|it| {
                    it.wait();
                });
                stream.write_all(&encode_reply(Ok(Answer::default()))).unwrap();
            })
        });
        let answering: Vec<_> = answering.collect();
        let clock = Clock::start();
        let [deadline, grace] = [10, 60].map(Duration::from_secs);
        let survey = ask(clock, &sockets, clock.now() + deadline, grace);
        let silent: Vec<u32> = survey.silent.iter().map(|it| it.name.pid).collect();
        assert_eq!((survey.sessions.len(), silent), (answering.len(), vec![1]));
        answering.into_iter().for_each(|it| it.join().unwrap());
    }

    #[test]
    fn a_server_that_closes_connections_counts_as_gone_only_once_it_takes_none() {
        for (closed, is_answered) in [(0, true), (TRIES_AGAIN - 1, true), (TRIES_AGAIN, false)] {
            let scratch = Scratch::new();
            let path = scratch.path("socket");
            let listener = UnixListener::bind(&path).unwrap();
            let server = thread::spawn(move || {
                for number in 0..TRIES_AGAIN.min(closed + 1) {
                    let (mut stream, _) = listener.accept().unwrap();
                    let _ = stream.read(&mut [0; 4096]);
                    if number == closed {
                        stream.write_all(&encode_reply(Ok(Answer::default()))).unwrap();
                    }
                }
            });
            let clock = Clock::start();
            let deadline = clock.now() + Duration::from_secs(60);
            match ask_again(clock, &path, deadline) {
                Ok(_) => assert!(is_answered),
                Err(error) => assert!(!is_answered && matches!(error, AskError::Silent)),
            }
            server.join().unwrap();
            assert!(matches!(ask_again(clock, &path, deadline), Err(AskError::Gone)));
        }
        // A server may close a connection before the request is written.
        for kind in [ErrorKind::BrokenPipe, ErrorKind::ConnectionReset] {
            assert!(matches!(AskError::from(io::Error::from(kind)), AskError::Closed), "{kind}");
        }
    }
}
