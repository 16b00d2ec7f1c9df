//! Files that a client copies to the host, until they are complete and their paths are typed.

use std::collections::BTreeMap;
use std::env;
use std::path::Path;

use rove_streams::{Answer, Mux, Put, Read, Reception, StreamId, UNREACHED};
use rove_units::Instant;

use crate::drop_folder::{DropError, DropFolder, NewFile};
use crate::server::typing::{OtherSession, TypingError};
use crate::splice::BYTES_PER_TURN;

/// The files that are coming, each on a stream of its own.
#[derive(Debug, Default)]
pub(super) struct Drops {
    coming: BTreeMap<StreamId, Coming>,
    /// Whether the last turn ended before the streams' bytes did.
    has_more: bool,
}

/// A file that is coming.
#[derive(Debug)]
struct Coming {
    file: NewFile,
    left: u64,
    /// The session into which its path is typed. `None` for this one.
    session: Option<OtherSession>,
}

/// How far a file has come.
enum Progress {
    /// More is to come; `true` if it is there already.
    More(bool),
    Complete,
    /// The client has given it up.
    GivenUp,
    Failed(DropError),
}

impl Drops {
    /// Begins a file, or refuses it.
    pub(super) fn begin(
        &mut self,
        mux: &mut Mux,
        reception: &mut Reception,
        id: StreamId,
        put: &Put,
    ) {
        match Coming::begin(put) {
            Ok(coming) => {
                let former = self.coming.insert(id, coming);
                debug_assert!(former.is_none(), "a stream carries one file");
            }
            Err(error) => reception.answer(mux, id, &refused(&error)),
        }
    }

    /// Reads what has come. `type_file` types the path of a file of this name into this session.
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
            let progress = coming.read(now, mux, id);
            if let Progress::More(is_there) = progress {
                self.has_more |= is_there;
                continue;
            }
            let Some(coming) = self.coming.remove(&id) else { continue };
            let answer = match progress {
                Progress::Failed(error) => refused(&error),
                Progress::Complete => {
                    coming.keep(&mut type_file).unwrap_or_else(|error| refused(&error))
                }
                Progress::GivenUp | Progress::More(_) => {
                    reception.give_up(mux, id);
                    continue;
                }
            };
            reception.answer(mux, id, &answer);
        }
    }

    /// Forgets the file of a stream that the client has given up.
    pub(super) fn give_up(&mut self, mux: &mut Mux, reception: &mut Reception, id: StreamId) {
        if self.coming.remove(&id).is_some() {
            reception.give_up(mux, id);
        }
    }

    /// Forgets all files.
    pub(super) fn clear(&mut self) {
        self.coming.clear();
    }

    /// Returns how many files are coming.
    pub(super) fn len(&self) -> usize {
        self.coming.len()
    }

    /// Returns whether there is more to read without waiting.
    pub(super) const fn has_work(&self) -> bool {
        self.has_more
    }
}

impl Coming {
    /// Begins to keep a file, and finds the session into which its path is typed.
    fn begin(put: &Put) -> Result<Self, TypingError> {
        let folder = DropFolder::open(|name| env::var_os(name))?;
        let file = folder.begin(&put.name, put.len)?;
        let session = put.session.as_deref().map(OtherSession::find).transpose()?;
        Ok(Self { file, left: put.len, session })
    }

    /// Reads at most [`BYTES_PER_TURN`].
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
                        return Progress::Failed(error);
                    }
                    self.left -= count as u64;
                }
                Ok(Read::Blocked) => return Progress::More(false),
                Ok(Read::End) | Err(_) => return Progress::GivenUp,
            }
        }
        Progress::More(true)
    }

    /// Keeps the complete file, and types its path.
    fn keep(
        self,
        type_file: &mut impl FnMut(&str) -> Result<(), TypingError>,
    ) -> Result<Answer, DropError> {
        debug_assert!(self.left == 0, "a file is kept after its last byte");
        let (name, path) = self.file.keep()?;
        let typed = match &self.session {
            Some(session) => session.type_file(&name),
            None => type_file(&name),
        };
        tracing::debug!(is_typed = typed.is_ok(), "a file is kept");
        let untyped = typed.err().map(|error| error.to_string()).unwrap_or_default();
        Ok(Answer::Kept { path: shown(&path), untyped })
    }
}

/// Returns the answer for a file that is not kept.
fn refused(error: &impl ToString) -> Answer {
    Answer::Refused { code: UNREACHED, text: error.to_string() }
}

/// Returns a path as users write it, with `~` for their home.
fn shown(path: &Path) -> String {
    let home = env::var_os("HOME").unwrap_or_default();
    match path.strip_prefix(&home) {
        Ok(rest) if !home.is_empty() => format!("~/{}", rest.display()),
        _ => path.display().to_string(),
    }
}
