//! The file on the disk: its checks, its lock, and changes that are whole or not at all.

use std::env;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rove_control::{Directory, DirectoryError};
use rustix::event::{Timespec, poll};
use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::process::geteuid;

use super::format::{FILE_BYTES_MAX, Hosts};
use crate::xdg::Folder;

/// The file's name. That of its lock and that of the next file have endings.
const NAME: &str = "prompts";
/// Permissions that other users may not have: read, write, or run the file.
const OTHERS: u32 = 0o177;
/// The file's mode.
const PRIVATE: u32 = 0o600;
/// How often the lock of another client is looked at, before a change is given up. Chosen: with [`LOCK_WAIT`] a tenth of a
/// second, as a change takes less than a millisecond, and a session must not wait for a process that is stopped.
const LOCK_TRIES: usize = 20;
/// How long each time.
const LOCK_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };

/// Why nothing is remembered, or forgotten.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PromptFileError {
    /// There is no place for the file.
    #[error("neither XDG_STATE_HOME nor HOME names a folder to remember prompts in")]
    NoPlace,
    /// The folder is not to be trusted.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// Somebody else could have put it there, or read it.
    #[error("{0:?} is no file of the user's own that nobody else may read: remove it")]
    Foreign(PathBuf),
    /// Another client does not let go of the lock.
    #[error("another rove holds the lock of the remembered prompts; try again")]
    Busy,
    #[error("the remembered prompts: {0}")]
    Io(#[from] io::Error),
}

/// The file in its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PromptFile(pub(super) Directory);

impl PromptFile {
    /// Returns the user's file, in a folder that is created where there is none.
    pub(super) fn create() -> Result<Self, PromptFileError> {
        let folder = folder()?;
        if let Some(parent) = folder.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        }
        Ok(Self(Directory::create(&folder)?))
    }

    /// Returns the user's file; `None` where there is not even a folder for it.
    pub(super) fn open() -> Result<Option<Self>, PromptFileError> {
        Ok(Directory::open(&folder()?)?.map(Self))
    }

    /// Reads the file. A missing file counts as empty, and so does a damaged one or one of another format.
    pub(super) fn read(&self) -> Result<Hosts, PromptFileError> {
        let path = self.path("");
        let file = match open(&path, OpenOptions::new().read(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Hosts::default()),
            // A symbolic link gives this error only.
            Err(error) if is_link(&path) => {
                tracing::debug!(%error, "the file of prompts is a symbolic link");
                return Err(PromptFileError::Foreign(path));
            }
            Err(error) => return Err(error.into()),
        };
        let found = file.metadata()?;
        let is_own = found.uid() == geteuid().as_raw() && found.mode() & OTHERS == 0;
        if !found.is_file() || !is_own {
            return Err(PromptFileError::Foreign(path));
        }
        let limit = u64::try_from(FILE_BYTES_MAX + 1).expect("a small number");
        let mut bytes = Vec::new();
        file.take(limit).read_to_end(&mut bytes)?;
        Ok(Hosts::decode(&bytes).unwrap_or_default())
    }

    /// Changes what the file holds by then, and writes it if that is something else.
    pub(super) fn update<T>(
        &self,
        change: impl FnOnce(&mut Hosts) -> T,
    ) -> Result<T, PromptFileError> {
        let _lock = self.lock()?;
        let before = self.read()?;
        let mut hosts = before.clone();
        let result = change(&mut hosts);
        if hosts != before {
            self.write(&hosts.encode())?;
        }
        Ok(result)
    }

    /// Removes the file; returns how many hosts were in it.
    pub(super) fn remove(&self) -> Result<usize, PromptFileError> {
        let _lock = self.lock()?;
        let count = self.read()?.len();
        remove(&self.path(""))?;
        Ok(count)
    }

    /// Puts a new file in the place of the old one, at once. It is not waited for until it is on the disk: a crash of
    /// the system may damage it, and then nothing is known.
    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let next = self.path(".new");
        open(&next, OpenOptions::new().write(true).create_new(true))?.write_all(bytes)?;
        fs::rename(&next, self.path(""))
    }

    /// Waits for the lock, and removes what a client has left that was killed while it wrote. The lock is let go of when
    /// the returned file is dropped.
    pub(super) fn lock(&self) -> Result<File, PromptFileError> {
        let file = open(&self.path(".lock"), OpenOptions::new().write(true).create(true))?;
        for _ in 0..LOCK_TRIES {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {
                    remove(&self.path(".new"))?;
                    return Ok(file);
                }
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(io::Error::from(error).into()),
            }
            let _ = poll(&mut [], Some(&LOCK_WAIT));
        }
        Err(PromptFileError::Busy)
    }

    fn path(&self, ending: &str) -> PathBuf {
        self.0.path().join(format!("{NAME}{ending}"))
    }
}

fn folder() -> Result<PathBuf, PromptFileError> {
    let state = Folder::State.path(|name| env::var_os(name)).ok_or(PromptFileError::NoPlace)?;
    Ok(state.join("rove"))
}

/// Opens a file of the user's own; no link is followed, and no pipe without an end waited for.
fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    options.mode(PRIVATE).custom_flags(flags.try_into().expect("flags of open")).open(path)
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_symlink())
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
