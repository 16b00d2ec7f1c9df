//! The file of prompts on the disk: its checks, its lock, and atomic changes.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rove_control::{Directory, DirectoryError};
use rustix::fs::{FlockOperation, flock};

use super::format::{FILE_BYTES_MAX, Hosts};
use crate::bounded;
use crate::own_file;
use crate::xdg::Folder;

/// The file's name. The names of its lock and its next version add `.lock` and `.new`.
const NAME: &str = "prompts";

/// Why prompts are not remembered, or not forgotten.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PromptFileError {
    /// No environment variable names a folder for the file.
    #[error("neither XDG_STATE_HOME nor HOME names a folder to remember prompts in")]
    NoPlace,
    /// The folder of the file cannot be trusted.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The file is a symbolic link or no regular file, or another user owns it or may read it.
    #[error("{0:?} is no file of the user's own that nobody else may read: remove it")]
    Foreign(PathBuf),
    /// Another client does not release the lock.
    #[error("another rove holds the lock of the remembered prompts; try again")]
    Busy,
    #[error("the remembered prompts: {0}")]
    Io(#[from] io::Error),
}

/// The file of remembered prompts, represented by its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PromptFile(pub(super) Directory);

/// The lock of the file. Dropping this value releases the lock, even if a forked process also has the descriptor.
#[derive(Debug)]
pub(super) struct Lock(pub(super) File);

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

impl PromptFile {
    /// Returns the user's file, after creating its folder if it is missing.
    pub(super) fn create() -> Result<Self, PromptFileError> {
        Ok(Self(Directory::create_all(&folder()?)?))
    }

    /// Returns the user's file. `None` if its folder does not exist.
    pub(super) fn open() -> Result<Option<Self>, PromptFileError> {
        Ok(Directory::open(&folder()?)?.map(Self))
    }

    /// Reads the file. A missing or damaged file, or a file of another format, counts as empty.
    pub(super) fn read(&self) -> Result<Hosts, PromptFileError> {
        let path = self.path("");
        let file = match own_file::open(&path, OpenOptions::new().read(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Hosts::default()),
            // A symbolic link fails to open because of `O_NOFOLLOW`.
            Err(error) if is_link(&path) => {
                tracing::debug!(%error, "the file of prompts is a symbolic link");
                return Err(PromptFileError::Foreign(path));
            }
            Err(error) => return Err(error.into()),
        };
        if own_file::check(&file)?.is_none() {
            return Err(PromptFileError::Foreign(path));
        }
        let bytes = bounded::read(file, FILE_BYTES_MAX as u64 + 1)?;
        Ok(Hosts::decode(&bytes).unwrap_or_default())
    }

    /// Applies `change` to the contents of the file under its lock, and writes the contents if they changed. Returns
    /// the result of `change`.
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

    /// Removes the file; returns how many accounts were in it.
    pub(super) fn remove(&self) -> Result<usize, PromptFileError> {
        let _lock = self.lock()?;
        let count = self.read()?.len();
        own_file::remove(&self.path(""))?;
        Ok(count)
    }

    /// Replaces the file atomically. The new file is not synced. If a crash of the system damages it, only the
    /// remembered prompts are lost.
    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let next = self.path(".new");
        own_file::open(&next, OpenOptions::new().write(true).create_new(true))?.write_all(bytes)?;
        fs::rename(&next, self.path(""))
    }

    /// Gets the lock within a tenth of a second, or fails (`Busy`). Then removes a killed client's partial file.
    pub(super) fn lock(&self) -> Result<Lock, PromptFileError> {
        let file =
            own_file::open(&self.path(".lock"), OpenOptions::new().write(true).create(true))?;
        rove_control::lock_file(file.as_fd()).map_err(|error| match error.kind() {
            ErrorKind::WouldBlock => PromptFileError::Busy,
            _ => error.into(),
        })?;
        let lock = Lock(file);
        own_file::remove(&self.path(".new"))?;
        Ok(lock)
    }

    fn path(&self, ending: &str) -> PathBuf {
        self.0.path().join(format!("{NAME}{ending}"))
    }
}

fn folder() -> Result<PathBuf, PromptFileError> {
    let state = Folder::State.path(|name| env::var_os(name)).ok_or(PromptFileError::NoPlace)?;
    Ok(state.join("rove"))
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_symlink())
}
