//! Receives files that a client copies to the host's drop folder, and types their paths into a session.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};

use rove_platform::event_loop::Interest;
use rove_streams::{Answer, Mux, Put, Read, Reception, StreamId, UNREACHED};
use rove_units::Instant;

use crate::drop_folder::{DropFolder, NewFile};
use crate::errand::{Errand, Errands};
use crate::server::other_session::OtherSession;
use crate::server::typing::TypingError;
use crate::splice::BYTES_PER_TURN;

/// Most threads that contact other sessions' servers. Chosen: more than the files that a user copies at once.
const THREADS_MAX: usize = 32;

/// The files that are being received, each on a stream of its own.
#[derive(Debug)]
pub(super) struct Drops {
    coming: BTreeMap<StreamId, Coming>,
    kept: BTreeMap<StreamId, Kept>,
    /// The threads that contact other sessions' servers.
    errands: Errands,
    /// Whether the last turn left bytes in a stream, because of [`BYTES_PER_TURN`].
    has_more: bool,
}

/// A file that is being received.
#[derive(Debug)]
struct Coming {
    file: NewFile,
    left: u64,
    /// The session into which the path is typed. `None` for this server's session.
    session: Option<OtherSession>,
}

/// A complete file. A thread asks another session's server to type the file's path.
#[derive(Debug)]
struct Kept {
    path: PathBuf,
    typing: Errand<Result<(), TypingError>>,
}

/// The progress of a file.
enum Progress {
    /// The file is incomplete, or its session is not found yet. `true` if more bytes can be read at once.
    More(bool),
    Complete,
    /// The client has given the file up.
    GivenUp,
    Failed(TypingError),
}

impl Default for Drops {
    fn default() -> Self {
        let (coming, kept) = (BTreeMap::new(), BTreeMap::new());
        Self { coming, kept, errands: Errands::new(THREADS_MAX), has_more: false }
    }
}

impl Drops {
    /// Begins to receive a file, or tells the client why the file is refused.
    pub(super) fn begin(
        &mut self,
        mux: &mut Mux,
        reception: &mut Reception,
        id: StreamId,
        put: &Put,
    ) {
        match Coming::begin(put, &self.errands) {
            Ok(coming) => {
                let former = self.coming.insert(id, coming);
                debug_assert!(former.is_none(), "a stream carries one file");
            }
            Err(error) => reception.answer(mux, id, &refused(&error)),
        }
    }

    /// Reads the streams, and answers the stream of each file that is complete or has failed. `type_file` gets the name
    /// of a file in the drop folder, and types the file's path into this server's session.
    pub(super) fn turn(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        reception: &mut Reception,
        mut type_file: impl FnMut(&str) -> Result<(), TypingError>,
    ) {
        self.has_more = false;
        let ids: Vec<StreamId> = self.coming.keys().copied().collect();
        for id in ids {
            let Some(coming) = self.coming.get_mut(&id) else { continue };
            let progress = coming.turn(now, mux, id);
            if let Progress::More(is_there) = progress {
                self.has_more |= is_there;
                continue;
            }
            let Some(coming) = self.coming.remove(&id) else { continue };
            match progress {
                Progress::Failed(error) => reception.answer(mux, id, &refused(&error)),
                Progress::Complete => match coming.keep(&self.errands, &mut type_file) {
                    Ok(answer) => reception.answer(mux, id, &answer),
                    Err(kept) => drop(self.kept.insert(id, kept)),
                },
                Progress::GivenUp | Progress::More(_) => reception.give_up(mux, id),
            }
        }
        self.kept.retain(|id, Kept { path, typing }| {
            let Some(typed) = typing.take() else { return true };
            reception.answer(mux, *id, &kept(path, typed.map_err(TypingError::from).flatten()));
            false
        });
    }

    /// Ends a stream that the client has given up. Removes the stream's file if the file is incomplete.
    pub(super) fn give_up(&mut self, mux: &mut Mux, reception: &mut Reception, id: StreamId) {
        if self.coming.remove(&id).is_some() || self.kept.remove(&id).is_some() {
            reception.give_up(mux, id);
        }
    }

    /// Stops serving all streams, and removes incomplete files.
    pub(super) fn clear(&mut self) {
        self.coming.clear();
        self.kept.clear();
    }

    /// Returns the number of files for which the server still owes the client an answer.
    pub(super) fn len(&self) -> usize {
        self.coming.len() + self.kept.len()
    }

    /// Returns the descriptors to wait for. When one is ready, call [`Drops::turn`].
    pub(super) fn interests(&self) -> impl Iterator<Item = Interest<'_>> {
        let sought = self.coming.values().filter_map(|it| it.session.as_ref()?.interest());
        sought.chain(self.kept.values().map(|it| it.typing.interest()))
    }

    /// Returns whether to call [`Drops::turn`] again without waiting.
    pub(super) const fn has_work(&self) -> bool {
        self.has_more
    }
}

impl Coming {
    /// Creates the file, and begins to look for the session into which its path is typed.
    fn begin(put: &Put, errands: &Errands) -> Result<Self, TypingError> {
        let folder = DropFolder::open(|name| env::var_os(name))?;
        let file = folder.begin(&put.name, put.len)?;
        let session =
            put.session.as_deref().map(|name| OtherSession::seek(errands, name)).transpose()?;
        Ok(Self { file, left: put.len, session })
    }

    /// Reads the stream, and returns the progress. A file counts as complete only after its session was found, too.
    fn turn(&mut self, now: Instant, mux: &mut Mux, id: StreamId) -> Progress {
        match self.session.as_mut().map_or(Ok(true), OtherSession::is_found) {
            Err(error) => Progress::Failed(error),
            Ok(is_found) => match self.read(now, mux, id) {
                Progress::Complete if !is_found => Progress::More(false),
                progress => progress,
            },
        }
    }

    /// Copies at most [`BYTES_PER_TURN`] bytes from the stream to the file, and returns the progress.
    fn read(&mut self, now: Instant, mux: &mut Mux, id: StreamId) -> Progress {
        let mut buffer = [0; 4_096];
        for _ in 0..BYTES_PER_TURN / buffer.len() {
            if self.left == 0 {
                return Progress::Complete;
            }
            let wanted = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
            match mux.read(now, id, &mut buffer[..wanted]) {
                Ok(Read::Bytes(count)) => {
                    debug_assert!(count as u64 <= self.left, "no more is read than is missing");
                    if let Err(error) = self.file.write(&buffer[..count]) {
                        return Progress::Failed(error.into());
                    }
                    self.left -= count as u64;
                }
                Ok(Read::Blocked) => return Progress::More(false),
                Ok(Read::End) | Err(_) => return Progress::GivenUp,
            }
        }
        Progress::More(true)
    }

    /// Gives the complete file its final name, and types its path. Returns the answer to the client. If another
    /// session's server must type the path, returns the file instead.
    fn keep(
        self,
        errands: &Errands,
        type_file: &mut impl FnMut(&str) -> Result<(), TypingError>,
    ) -> Result<Answer, Kept> {
        debug_assert!(self.left == 0, "a file is kept after its last byte");
        let (name, path) = match self.file.keep() {
            Ok(found) => found,
            Err(error) => return Ok(refused(&error)),
        };
        match self.session.map(|session| session.type_file(errands, name.clone())) {
            None => Ok(kept(&path, type_file(&name))),
            Some(Err(error)) => Ok(kept(&path, Err(error))),
            Some(Ok(typing)) => Err(Kept { path, typing }),
        }
    }
}

/// Returns the answer for a file that is kept. `typed` says whether its path was typed.
fn kept(path: &Path, typed: Result<(), TypingError>) -> Answer {
    tracing::debug!(is_typed = typed.is_ok(), "a file is kept");
    let untyped = typed.err().map(|error| error.to_string()).unwrap_or_default();
    Answer::Kept { path: shown(path), untyped }
}

/// Returns the answer for a file that is not kept.
fn refused(error: &impl ToString) -> Answer {
    Answer::Refused { code: UNREACHED, text: error.to_string() }
}

/// Returns a path with `~` for the user's home directory.
fn shown(path: &Path) -> String {
    let home = env::var_os("HOME").unwrap_or_default();
    match path.strip_prefix(&home) {
        Ok(rest) if !home.is_empty() => format!("~/{}", rest.display()),
        _ => path.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use rove_platform::clock::Clock;
    use rove_platform::event_loop::EventLoop;
    use rove_rig::scratch::Scratch;
    use rove_streams::MessageReader;

    use super::*;
    use crate::tests::muxes::{deliver, muxes};

    #[test]
    fn a_session_that_is_looked_for_keeps_no_other_file_waiting() {
        let (scratch, now) = (Scratch::new(), Instant::ZERO);
        let home = scratch.folder().as_os_str().to_owned();
        let (mut client, mut server) = muxes();
        let (mut drops, mut reception) = (Drops::default(), Reception::default());
        let (found, wait) = channel::<()>();
        // The search waits until the test ends it, as it would for a suspended server.
        let seek = move || {
            wait.recv().expect("the test tells");
            Err(TypingError::NoSession)
        };
        let sought = OtherSession::Sought(drops.errands.begin("test", seek).unwrap());
        let ids = [Some(sought), None].map(|session| {
            let id = client.open(now).unwrap();
            client.write(id, b"x").unwrap();
            let folder = DropFolder::open(|name| (name == "HOME").then(|| home.clone())).unwrap();
            let file = folder.begin(b"a", 1).unwrap();
            drops.coming.insert(id, Coming { file, left: 1, session });
            id
        });
        deliver(now, &mut client, &mut server);
        let mut turn = |drops: &mut Drops| {
            drops.turn(now, &mut server, &mut reception, |_| Ok(()));
            deliver(now, &mut server, &mut client);
            ids.map(|id| MessageReader::default().read(now, &mut client, id).ok().flatten())
        };
        let answers = turn(&mut drops).map(|it| it.map(|fields| Answer::decode(&fields).unwrap()));
        assert!(
            matches!(&answers, [None, Some(Answer::Kept { untyped, .. })] if untyped.is_empty())
        );
        assert_eq!((drops.len(), drops.interests().count()), (1, 1));
        found.send(()).unwrap();
        let mut events = EventLoop::new(Clock::start(), &[]).unwrap();
        events.wait(&mut drops.interests().collect::<Vec<_>>(), None).unwrap();
        let [answer, _] = turn(&mut drops);
        let answer = Answer::decode(&answer.expect("it has come")).unwrap();
        let text = TypingError::NoSession.to_string();
        assert_eq!(answer, Answer::Refused { code: UNREACHED, text });
        assert_eq!((drops.len(), drops.interests().count()), (0, 0));
    }
}
