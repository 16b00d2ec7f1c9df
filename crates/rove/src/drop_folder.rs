//! The folder on a host for files that `rove put` copies: `~/.cache/rove/drop`, which only its user may enter.
//!
//! A file gets its final name when it is complete. Until then it has a temporary name. If the copy is cut off, the file
//! is removed. If this process is killed, the next `rove put` to this host removes the file.

use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rove_terminal::{Plain, plain};
use rustix::fs::{
    AtFlags, Dir, FileType, FlockOperation, Mode, OFlags, fchmod, flock, fstat, fstatvfs, mkdirat,
    openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use crate::messages::reason;
use crate::xdg::Folder;

/// Most bytes of a file of `rove put`. Chosen: pictures and logs are smaller; for more, use `rsync -e 'rove exec'`.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// Most bytes of a file's final name in the drop folder. Chosen: the name fits into a request at a control socket.
const NAME_MAX: usize = 100;

/// Longest extension with its dot, in bytes, that a shortened file name keeps. Chosen: longer than `.tar.zst`.
const ENDING_MAX: usize = 16;

/// Most files in the drop folder whose names differ only in an added number. Chosen: more than a user makes.
const NUMBER_MAX: u32 = 1_000;

/// The beginning of a temporary name.
const PART: &str = ".part-";

/// Why a file is not kept in the drop folder.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DropError {
    /// The folder cannot be made or used.
    #[error("the host has no folder for it: {0}")]
    Folder(String),
    /// The file has more than [`FILE_BYTES_MAX`] bytes.
    #[error("it has more than {} MiB; rsync -e 'rove exec' copies it", FILE_BYTES_MAX >> 20)]
    Large,
    /// The file system has only this many bytes left.
    #[error("the host has only {} MiB left for it", .0 >> 20)]
    Full(u64),
    /// The system refuses the file.
    #[error("the host cannot keep it: {}", reason(&.0.to_string()))]
    System(#[from] io::Error),
}

impl From<Errno> for DropError {
    fn from(error: Errno) -> Self {
        Self::System(error.into())
    }
}

/// The open drop folder.
#[derive(Debug)]
pub(crate) struct DropFolder {
    folder: OwnedFd,
    path: PathBuf,
}

/// An incomplete file. Dropping this value removes it.
#[derive(Debug)]
pub(crate) struct NewFile {
    folder: DropFolder,
    file: File,
    part: String,
    name: String,
}

impl DropFolder {
    /// Opens the folder below `XDG_CACHE_HOME` or `HOME`, whose values `variable` returns. Makes the folder if needed.
    ///
    /// # Errors
    ///
    /// Returns why the folder cannot be used.
    pub(crate) fn open(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, DropError> {
        let missing = || DropError::Folder("HOME is not set".to_owned());
        let cache = Folder::Cache.path(variable).ok_or_else(missing)?;
        Self::within(&cache).map_err(|error| {
            let path = cache.join("rove/drop");
            DropError::Folder(format!("{}: {}", path.display(), reason(&error.to_string())))
        })
    }

    fn within(cache: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(cache)?;
        let mut folder = OwnedFd::from(File::open(cache)?);
        for name in ["rove", "drop"] {
            match mkdirat(&folder, name, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            // A symbolic link, or a folder of another user, could expose the files.
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
            folder = openat(&folder, name, flags, Mode::empty())?;
            if fstat(&folder)?.st_uid != rustix::process::geteuid().as_raw() {
                return Err(io::Error::other("the folder is another user's"));
            }
        }
        fchmod(&folder, Mode::RWXU)?;
        Ok(Self { folder, path: cache.join("rove/drop") })
    }

    /// Creates a file for `len` bytes under a temporary name. `name` is the client's name for the file.
    ///
    /// # Errors
    ///
    /// Returns why the file cannot be kept.
    pub(crate) fn begin(self, name: &[u8], len: u64) -> Result<NewFile, DropError> {
        if len > FILE_BYTES_MAX {
            return Err(DropError::Large);
        }
        self.sweep();
        let left = fstatvfs(&self.folder)?;
        let left = left.f_bavail.saturating_mul(left.f_frsize);
        if left < len {
            return Err(DropError::Full(left));
        }
        let pid = std::process::id();
        for number in 0..NUMBER_MAX {
            let part = format!("{PART}{pid}-{number}");
            let file = match self.create(&part) {
                Err(Errno::EXIST) => continue,
                created => created?,
            };
            match self.lock(&part, &file) {
                Ok(true) => {
                    return Ok(NewFile { folder: self, file, part, name: kept_name(name) });
                }
                Ok(false) => {}
                Err(error) => {
                    let _ = unlinkat(&self.folder, &*part, AtFlags::empty());
                    return Err(error.into());
                }
            }
        }
        Err(Errno::EXIST.into())
    }

    /// Locks a new file, so that [`Self::sweep`] in another process does not remove it. Returns `false` if another
    /// process has already locked or removed the file.
    fn lock(&self, part: &str, file: &File) -> rustix::io::Result<bool> {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Ok(false),
            Err(error) => return Err(error),
        }
        let found = match statat(&self.folder, part, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(false),
            found => found?,
        };
        let ours = fstat(file)?;
        Ok((found.st_dev, found.st_ino) == (ours.st_dev, ours.st_ino))
    }

    /// Returns the path of a regular file in the folder. `None` if it does not exist, or `rove put` gives no such name.
    pub(crate) fn path_of(&self, name: &str) -> Option<PathBuf> {
        let is_name = name == kept_name(name.as_bytes());
        let found =
            statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW).ok().filter(|_| is_name)?;
        FileType::from_raw_mode(found.st_mode).is_file().then(|| self.path.join(name))
    }

    /// Creates a file, and fails if the name exists.
    fn create(&self, name: &str) -> rustix::io::Result<File> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&self.folder, name, flags, Mode::RUSR | Mode::WUSR).map(File::from)
    }

    /// Removes incomplete files of processes that have ended, whose locks are gone.
    fn sweep(&self) {
        let Ok(entries) = Dir::read_from(&self.folder) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name().to_str().ok().filter(|it| it.starts_with(PART));
            // The file stays locked until its name is gone.
            let Some((name, _file)) = name.and_then(|it| Some((it, self.lock_left(it)?))) else {
                continue;
            };
            let _ = unlinkat(&self.folder, name, AtFlags::empty());
        }
    }

    /// Locks an incomplete file of a process that has ended. `None` if another process holds the lock, or on an error.
    fn lock_left(&self, part: &str) -> Option<File> {
        // NFS locks only a file that is open for writing (flock(2)).
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&self.folder, part, flags, Mode::empty()).ok()?);
        (self.lock(part, &file) == Ok(true)).then_some(file)
    }
}

impl NewFile {
    /// Appends bytes to the file.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), DropError> {
        Ok(self.file.write_all(bytes)?)
    }

    /// Gives the file its final name, with a number if another file has that name. Returns the name and the path.
    pub(crate) fn keep(self) -> Result<(String, PathBuf), DropError> {
        let folder = &self.folder;
        for number in 0..NUMBER_MAX {
            let name = numbered(&self.name, number);
            match folder.create(&name) {
                Err(Errno::EXIST) => continue,
                created => drop(created?),
            }
            // The rename replaces the empty file that was just created to reserve the name.
            let renamed = renameat(&folder.folder, &*self.part, &folder.folder, &*name);
            renamed.inspect_err(|_| {
                let _ = unlinkat(&folder.folder, &*name, AtFlags::empty());
            })?;
            let path = folder.path.join(&name);
            return Ok((name, path));
        }
        Err(Errno::EXIST.into())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        let _ = unlinkat(self.folder.folder.as_fd(), &*self.part, AtFlags::empty());
    }
}

/// Returns the final name for a client's file name, without blanks at its ends and cut to [`NAME_MAX`] bytes. `_`
/// replaces slashes, control characters, invalid UTF-8 and leading dots. An empty name becomes `file`.
fn kept_name(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    let shown = |c: char| if c == '/' || c.is_control() || c == '\u{fffd}' { '_' } else { c };
    let name = name.chars().map(shown).collect::<String>();
    // A combining mark after leading spaces is removed together with these spaces.
    let begins = |c: char| !c.is_whitespace() && Plain::default().admits(c);
    let name = plain(name.trim_start_matches(|c| !begins(c)));
    let name = name.trim_end();
    let hidden = name.len() - name.trim_start_matches('.').len();
    let name = format!("{}{}", "_".repeat(hidden.min(1)), &name[hidden..]);
    if name.is_empty() {
        return "file".to_owned();
    }
    let (stem, ending) = split(&name);
    let stem = &stem[..stem.floor_char_boundary(NAME_MAX - ending.len())];
    format!("{stem}{ending}").trim_end().to_owned()
}

/// Inserts a number in front of a name's extension. The name is unchanged for 0.
fn numbered(name: &str, number: u32) -> String {
    if number == 0 {
        return name.to_owned();
    }
    let (stem, ending) = split(name);
    let number = format!("-{number}");
    let room = NAME_MAX - ending.len() - number.len();
    format!("{}{number}{ending}", &stem[..stem.floor_char_boundary(room)])
}

/// Splits a name before its extension, if that has at most [`ENDING_MAX`] bytes with its dot. The extension of a
/// compressed archive has two parts, such as `.tar.gz`.
fn split(name: &str) -> (&str, &str) {
    let is_split = |at: &usize| *at > 0 && name.len() - at <= ENDING_MAX;
    let at = name.rfind('.').filter(is_split).unwrap_or(name.len());
    let archive = name[..at].strip_suffix(".tar").map(str::len).filter(is_split);
    name.split_at(archive.unwrap_or(at))
}

#[cfg(test)]
mod tests;
