//! Copies files to the host, one by one. In the same order, the server types the paths of the copies into a session.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rove_streams::{FILE_NAME_MAX, FIRST_CREDIT, Mux, Put, StreamError, Target};
use rove_terminal::plain;
use rove_units::Instant;

use crate::messages::reason;
use crate::opening::{Answered, Opening};

/// Most bytes that are read from a file at a time. Chosen: the first flow-control credit of a stream.
const CHUNK: usize = 16 * 1024;

/// Most chunks written in a turn of the event loop. Chosen: as many bytes as a turn reads from a socket.
const CHUNKS_PER_TURN: usize = 4;

/// Most files that may wait in a session; a line that would exceed this is refused. Chosen: more than a user drops.
const FILES_MAX: usize = 256;

/// The code that resets the stream of a file that the client cannot read. Chosen: unlike the stream layer's own codes.
const BROKEN: u64 = 16;

/// The sentence about a host that closes the stream without a reason. A rove that is too old to take files does so.
const SILENT_END: &str = "the host has ended the stream without a word: either it was cut off, or the host's rove is too old to \
                       take files; rove install copies this one";

/// The sentence about a host that closes the stream without a reason after it has begun to read the file.
const CUT: &str = "the host has ended the stream in the middle of the file";

/// Why the client does not copy the files in a line that the user typed, in words for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LineError {
    /// A quote in the line is not closed. The text is the line's printable characters.
    #[error("not understood: {0}")]
    Malformed(String),
    /// More than [`FILES_MAX`] files would wait.
    #[error("more than {FILES_MAX} files cannot wait to be copied")]
    TooMany,
}

/// Why the copy of a file does not begin, in words for the user.
#[derive(Debug, thiserror::Error)]
enum BeginError {
    /// The file cannot be opened, or is not a regular file.
    #[error("{}", reason(&.0.to_string()))]
    File(#[from] io::Error),
    /// The path ends without a name, as `/` and `..` do.
    #[error("it has no name")]
    Name,
    /// The session cannot open a stream for the file.
    #[error(transparent)]
    Stream(#[from] StreamError),
}

/// The files to copy to a host.
#[derive(Debug, Default)]
pub(crate) struct FileSender {
    waiting: VecDeque<PathBuf>,
    current: Option<Current>,
    /// The name of the session into which the server types the paths; empty for the host's only session. `None` for the
    /// session that carries the stream.
    session: Option<String>,
    has_more: bool,
}

/// The file that is being copied.
#[derive(Debug)]
struct Current {
    /// The file's name in messages to the user.
    shown: String,
    file: File,
    opening: Opening,
    len: u64,
    /// Number of bytes that have not been read from the file.
    left: u64,
    /// Bytes that were read from the file and not written to the stream.
    chunk: Vec<u8>,
}

/// The result of copying a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The host keeps the file at this path, which was typed into the session.
    Typed { shown: String, path: String },
    /// The host keeps the file at this path, which was not typed, for this reason.
    Kept { shown: String, path: String, reason: String },
    /// The host does not have the file, for this reason.
    Failed { shown: String, reason: String },
}

impl FileSender {
    /// Creates a sender of `files`. The server types the copies' paths into `session`; empty means the only session.
    pub(crate) fn for_session(session: String, files: Vec<PathBuf>) -> Self {
        Self { session: Some(session), waiting: files.into(), ..Self::default() }
    }

    /// Adds the files that `line` names. The line's words are split as by a shell; `~/` is the home directory.
    ///
    /// # Errors
    ///
    /// Returns why the files are not added, in words for the user.
    pub(crate) fn add(&mut self, line: &str) -> Result<(), LineError> {
        let home = std::env::home_dir().unwrap_or_default();
        let path = |word: &String| match word.strip_prefix("~/") {
            Some(rest) => home.join(rest),
            None => PathBuf::from(word),
        };
        let Ok(words) = shell_words::split(line) else {
            return Err(LineError::Malformed(plain(line)));
        };
        let files: Vec<PathBuf> = words.iter().map(path).collect();
        if self.waiting.len() + files.len() > FILES_MAX {
            return Err(LineError::TooMany);
        }
        self.waiting.extend(files);
        debug_assert!(self.waiting.len() <= FILES_MAX);
        Ok(())
    }

    /// Returns whether files wait or are being copied.
    pub(crate) fn is_active(&self) -> bool {
        self.current.is_some() || !self.waiting.is_empty()
    }

    /// Returns whether to call [`FileSender::turn`] again without waiting.
    pub(crate) const fn has_work(&self) -> bool {
        self.has_more
    }

    /// Returns the name of the file being copied, the bytes written to the stream, and the file's length in bytes.
    /// `None` if no file is being copied.
    pub(crate) fn progress(&self) -> Option<(&str, u64, u64)> {
        self.current.as_ref().map(|it| (&*it.shown, it.written(), it.len))
    }

    /// Forgets the files that wait, and the file that is being copied.
    pub(crate) fn clear(&mut self) {
        *self = Self { session: self.session.take(), ..Self::default() };
    }

    /// Sends a part of the current or next file. Returns the result when a copy has ended or failed, else `None`.
    pub(crate) fn turn(&mut self, now: Instant, mux: &mut Mux) -> Option<Sent> {
        self.has_more = false;
        if self.current.is_none() {
            let path = self.waiting.pop_front()?;
            self.has_more = !self.waiting.is_empty();
            match Current::begin(now, mux, &path, self.session.clone()) {
                Ok(current) => self.current = Some(current),
                Err(error) => {
                    let (shown, reason) = (shown(&path), error.to_string());
                    return Some(Sent::Failed { shown, reason });
                }
            }
        }
        let current = self.current.as_mut()?;
        let answered = current.opening.answer(now, mux);
        let sent = match answered {
            Some(answered) => Some(current.end(answered)),
            None => match current.write(mux) {
                Ok(has_more) => {
                    self.has_more = has_more;
                    None
                }
                Err(error) => {
                    let id = current.opening.id();
                    mux.reset_and_stop(id, BROKEN);
                    let (shown, reason) = (current.shown.clone(), reason(&error.to_string()));
                    Some(Sent::Failed { shown, reason })
                }
            },
        };
        if sent.is_some() {
            self.current = None;
            self.has_more = !self.waiting.is_empty();
        }
        sent
    }
}

impl Current {
    fn begin(
        now: Instant,
        mux: &mut Mux,
        path: &Path,
        session: Option<String>,
    ) -> Result<Self, BeginError> {
        let (file, len) = open(path)?;
        let name = path.file_name().ok_or(BeginError::Name)?.as_bytes();
        let name = name[..name.len().min(FILE_NAME_MAX)].to_vec();
        let target = Target::Put(Put { name, len, session });
        let opening = Opening::begin(now, mux, &target)?;
        Ok(Self { shown: shown(path), file, opening, len, left: len, chunk: Vec::new() })
    }

    /// Writes at most [`CHUNKS_PER_TURN`] chunks of the file to the stream. Returns `false` if the stream takes no
    /// more, or the file has ended. The error is that of reading the file.
    fn write(&mut self, mux: &mut Mux) -> io::Result<bool> {
        for _ in 0..CHUNKS_PER_TURN {
            if self.chunk.is_empty() && !self.read()? {
                return Ok(false);
            }
            // An error means that the host stopped reading, or the streams are closed. The next turn reads why.
            let Ok(count) = mux.write(self.opening.id(), &self.chunk) else { return Ok(false) };
            self.chunk.drain(..count);
            if !self.chunk.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads the next chunk. Returns `false` at the file's end, and an error if the file has become shorter.
    fn read(&mut self) -> io::Result<bool> {
        debug_assert!(self.chunk.is_empty(), "a chunk is written whole");
        let wanted = self.left.min(CHUNK as u64);
        let count = self.file.by_ref().take(wanted).read_to_end(&mut self.chunk)? as u64;
        if count < wanted {
            return Err(io::Error::other("it became shorter while it was copied"));
        }
        debug_assert!(count <= self.left, "no more is read than was announced");
        self.left -= count;
        Ok(count > 0)
    }

    /// Returns whether the host has surely read from the stream. An unread stream takes at most twice the first credit.
    fn is_known(&self) -> bool {
        self.written() > 2 * FIRST_CREDIT
    }

    fn written(&self) -> u64 {
        self.len - self.left - self.chunk.len() as u64
    }

    fn end(&self, answered: Answered) -> Sent {
        let shown = self.shown.clone();
        let reason = match answered {
            Answered::Kept(path, reason) if reason.is_empty() => {
                return Sent::Typed { shown, path: plain(&path) };
            }
            Answered::Kept(path, reason) => {
                return Sent::Kept { shown, path: plain(&path), reason };
            }
            Answered::Refused(reason) | Answered::Busy(reason) | Answered::Cut(reason) => reason,
            Answered::Unknown if self.is_known() => CUT.to_owned(),
            Answered::Unknown | Answered::Opened(_) | Answered::Exited(_) => SILENT_END.to_owned(),
        };
        Sent::Failed { shown, reason }
    }
}

impl Sent {
    /// Returns a sentence for the user.
    pub(crate) fn sentence(&self) -> String {
        match self {
            Self::Typed { shown, path } => format!("{shown} is at {path}"),
            Self::Kept { shown, path, reason } => {
                format!("{shown} is at {path}, which is not typed: {reason}")
            }
            Self::Failed { shown, reason } => format!("{shown} is not copied: {reason}"),
        }
    }
}

/// Opens a regular file, and returns it with its length.
///
/// # Errors
///
/// Returns why the file cannot be copied.
pub(crate) fn open(path: &Path) -> io::Result<(File, u64)> {
    // Opening a pipe without a writer would block.
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    // A read from a file without a length, such as /proc/kmsg, may block, too.
    let mut file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let len = file.metadata()?.len();
    if len == 0 && !matches!(file.read(&mut [0]), Ok(0)) {
        return Err(io::Error::other("it reports no length, so rove cannot copy it; scp can"));
    }
    Ok((file, len))
}

fn shown(path: &Path) -> String {
    plain(&path.file_name().unwrap_or(path.as_os_str()).to_string_lossy())
}

#[cfg(test)]
mod tests {
    use rove_rig::scratch::Scratch;
    use rove_streams::{PROTOCOL, REFUSED, StreamId};
    use rove_units::Duration;

    use super::*;
    use crate::tests::muxes::{deliver, muxes};

    /// Sends a file of a megabyte to a host that reads `read` bytes of it and then calls `then`. Returns why it failed.
    fn reason_after(read: usize, then: impl FnOnce(Instant, &mut Mux, StreamId)) -> String {
        let (scratch, (mut client, mut server)) = (Scratch::new(), muxes());
        let file = scratch.write("file", &"x".repeat(1 << 20));
        let mut sender = FileSender::for_session(String::new(), vec![file]);
        let (mut now, mut then, mut id, mut left) = (Instant::ZERO, Some(then), None, read);
        loop {
            if let Some(sent) = sender.turn(now, &mut client) {
                let Sent::Failed { reason, .. } = sent else { panic!("{sent:?}") };
                return reason;
            }
            now += Duration::from_millis(5);
            assert!(now < Instant::ZERO + Duration::from_secs(600), "the user is told");
            deliver(now, &mut client, &mut server);
            id = id.or_else(|| server.accept());
            if let Some(id) = id {
                let mut buffer = [0; CHUNK];
                let room = left.min(CHUNK);
                if let Ok(rove_streams::Read::Bytes(count)) =
                    server.read(now, id, &mut buffer[..room])
                {
                    left -= count;
                }
                if left == 0
                    && let Some(then) = then.take()
                {
                    then(now, &mut server, id);
                }
            }
            deliver(now, &mut server, &mut client);
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_does_not_delay_the_next() {
        let (scratch, mut client) = (Scratch::new(), muxes().0);
        let files = vec![scratch.path("missing"), scratch.write("file", "x")];
        let mut sender = FileSender::for_session(String::new(), files);
        let sent = sender.turn(Instant::ZERO, &mut client);
        assert!(matches!(sent, Some(Sent::Failed { .. })), "{sent:?}");
        assert!(sender.has_work(), "the next turn begins at once");
    }

    #[test]
    fn a_file_that_reports_no_length_is_refused_and_an_empty_one_is_not() {
        let scratch = Scratch::new();
        assert_eq!(open(&scratch.write("empty", "")).unwrap().1, 0);
        if cfg!(target_os = "linux") {
            let refused = open(Path::new("/proc/self/status")).unwrap_err().to_string();
            assert!(refused.starts_with("it reports no length"), "{refused}");
        }
    }

    #[test]
    fn a_file_whose_stream_is_cut_is_told_by_its_cause_and_not_by_the_hosts_age() {
        let end = |_: Instant, mux: &mut Mux, id| {
            mux.reset(id, REFUSED).unwrap();
            mux.stop(id, REFUSED).unwrap();
        };
        // The client cannot tell a host that is too old for files from one that has read little of the file.
        let reason = reason_after(1, end);
        assert!(reason.contains("ended the stream") && reason.contains("too old"), "{reason}");
        assert_eq!(reason_after(100_000, end), CUT);
        let close = |now, mux: &mut Mux, _| mux.close(now, PROTOCOL, "over");
        for read in [1, 100_000] {
            assert_eq!(reason_after(read, close), "all streams of the session were closed");
        }
        let refuse = |_: Instant, mux: &mut Mux, id| {
            let answer = rove_streams::Answer::Refused { code: 3, text: "no room".to_owned() };
            mux.write(id, &answer.encode()).unwrap();
            mux.finish(id).unwrap();
            mux.stop(id, REFUSED).unwrap();
        };
        assert_eq!(reason_after(100_000, refuse), "no room");
    }
}
