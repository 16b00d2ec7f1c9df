//! The files of a session's record on the disk: their lock, the checks on reading, and their removal.
//!
//! A session has a key file in one folder. Its record is in another folder, beside a file with the record's progress.
//! The session's client holds the lock on the key file. A new whole record replaces the former record by a rename.

use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::fd::{IntoRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use rove_bootstrap::Resume;
use rove_control::{Directory, runtime_directory};
use rove_session::{ClientId, Record};
use rove_ssp::Key;
use rustix::fs::{FlockOperation, flock};
use rustix::io::{FdFlags, fcntl_setfd};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::disk::{Disk, System};
use super::error::ResumeFileError;
pub(super) use super::format::Secret;
use super::format::{self, FILE_BYTES_MAX, Opened, Progress, Sealer};
use super::origin::Origin;
use crate::bounded;
use crate::entropy;
use crate::own_file::{self, open};
use crate::session_call::SessionCall;
use crate::sys;
use crate::xdg::Folder;

/// The beginning of the names of the key file and the record.
const PREFIX: &str = "resume-";
/// The file name endings of a record that will replace another, and of the file with the progress.
const NEXT: &str = "new";
const PROGRESS: &str = "at";
/// Most key files of sessions that are read; others are ignored. Chosen: more sessions than a user has.
const SESSIONS_MAX: usize = 256;

/// The facts about a session at the beginning of its file of records.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct SessionFacts {
    pub(crate) server: String,
    /// The sealed session key. `None` if the next client gets a new key over ssh.
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) call: SessionCall,
    /// The client's identity, or that of the former client whose keystrokes it still sends.
    pub(crate) client: String,
    /// Whether the record outlives a restart of the computer.
    pub(crate) is_on_disk: bool,
    computer: String,
    boot: String,
    /// Device and inode of the key file and the record. A copy of the files has other numbers.
    files: [(u64, u64); 2],
}

impl SessionFacts {
    pub(super) fn of(server: SocketAddr, key: &Key, call: &SessionCall, secret: &Secret) -> Self {
        let Origin { computer, boot, .. } = Origin::ours();
        Self {
            server: server.to_string(),
            key: Some(format::seal_key(secret, key)),
            call: SessionCall { resumed: None, ..call.clone() },
            client: ClientId::of(key).to_string(),
            is_on_disk: call.choices.resume == Resume::Reboot,
            computer,
            boot,
            files: [(0, 0); 2],
        }
    }

    /// Returns whether `self` and `other` describe the same session with a rove server. One name may mean several hosts,
    /// if the user's ssh commands have different ports, or the name has several addresses.
    pub(super) fn is_same_rove(&self, other: &Self) -> bool {
        let session = |it: &Self| (it.server.clone(), it.call.host.clone(), it.call.ssh.clone());
        self.key.is_none() && session(self) == session(other)
    }

    /// Returns whether the record belongs to these files. On disk only inodes count, as a restart may renumber devices.
    fn is_of(&self, files: [(u64, u64); 2]) -> bool {
        let numbers = |(device, inode)| ((!self.is_on_disk).then_some(device), inode);
        self.files.map(numbers) == files.map(numbers)
    }
}

/// The folders of key files and records.
#[derive(Clone, Debug)]
pub(crate) struct Folders {
    keys: Directory,
    /// The folder of records that do not outlive a restart of the computer: the runtime directory.
    memory: Directory,
    /// The folder of records that outlive a restart. It exists after a record was kept in it.
    disk: PathBuf,
}

impl Folders {
    /// Returns the user's folders. Creates the folder of keys and the runtime directory if they are missing.
    pub(crate) fn create() -> Result<Self, ResumeFileError> {
        let folder = |kind: Folder| kind.path(|name| env::var_os(name));
        let own = |kind| folder(kind).map(|it| it.join("rove")).ok_or(ResumeFileError::NoPlace);
        let [keys, state] = [own(Folder::Data)?, own(Folder::State)?];
        Self::at(&keys.join("resume"), runtime_directory()?, &state)
    }

    pub(super) fn at(keys: &Path, memory: Directory, disk: &Path) -> Result<Self, ResumeFileError> {
        Ok(Self { keys: Directory::create_all(keys)?, memory, disk: disk.to_owned() })
    }

    fn key_path(&self, name: &str) -> PathBuf {
        self.keys.path().join(format!("{PREFIX}{name}"))
    }

    fn record_path(&self, name: &str, is_on_disk: bool) -> PathBuf {
        let folder = if is_on_disk { &self.disk } else { self.memory.path() };
        folder.join(format!("{PREFIX}{name}"))
    }

    /// Returns the sessions whose client is gone, newest record first, then the errors of sessions that cannot be
    /// resumed. Also removes the files of sessions that have no record, or that a restart of the computer has ended.
    pub(crate) fn sessions(&self) -> Vec<(String, Result<Saved, ResumeFileError>)> {
        let entries =
            self.keys.path().read_dir().into_iter().flatten().take(SESSIONS_MAX).flatten();
        let names = entries
            .filter_map(|it| Some(it.file_name().to_str()?.strip_prefix(PREFIX)?.to_owned()));
        let mut found: Vec<_> = names.map(|name| (name.clone(), self.open(&name))).collect();
        found.retain(|(name, it)| {
            let is_missing = matches!(it, Err(ResumeFileError::Io(error)) if error.kind() == ErrorKind::NotFound);
            if matches!(it, Err(ResumeFileError::OtherBoot)) || is_missing && self.is_gone(name) {
                self.remove(name);
            }
            !is_missing && !matches!(it, Err(ResumeFileError::Busy))
        });
        found.sort_by_key(|(name, saved)| {
            saved.as_ref().map(|it| core::cmp::Reverse(it.written_at)).map_err(|_| name.clone())
        });
        found
    }

    /// Returns whether the record of a key is certainly gone. A record that is not in this process's folders may be on
    /// another computer, or in the folder that another process's environment names. The keys of records on disk stay.
    fn is_gone(&self, name: &str) -> bool {
        let found = open(&self.key_path(name), OpenOptions::new().read(true));
        let Ok(bytes) = found.and_then(|file| read_key(&file)) else { return false };
        format::decode_secret(&bytes).is_some_and(|(_, place)| Origin::ours().has_lost(place))
    }

    fn remove(&self, name: &str) {
        // A record cannot be read without its key, so the key is overwritten and removed first.
        let key = self.key_path(name);
        if let Ok(file) = open(&key, OpenOptions::new().write(true)) {
            let _ = System.write(&file, &[0; 24], 0);
        }
        for path in [key, self.record_path(name, false), self.record_path(name, true)] {
            let _ = fs::remove_file(path.with_extension(NEXT));
            let _ = fs::remove_file(path.with_extension(PROGRESS));
            let _ = fs::remove_file(path);
        }
    }

    /// Opens the files of a session, and takes their lock.
    ///
    /// # Errors
    ///
    /// Returns why the session cannot be resumed.
    pub(crate) fn open(&self, name: &str) -> Result<Saved, ResumeFileError> {
        let options = OpenOptions::new().read(true).write(true).clone();
        self.open_by(name, open(&self.key_path(name), &mut options.clone())?)
    }

    /// Opens the files of a session whose lock was kept over an exec ([`keep_lock`]).
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Folders::open`].
    pub(crate) fn open_locked(&self, name: &str, lock: RawFd) -> Result<Saved, ResumeFileError> {
        let key_file = sys::take_descriptor(lock).ok_or(ResumeFileError::Foreign)?;
        self.open_by(name, key_file.into())
    }

    fn open_by(&self, name: &str, key_file: File) -> Result<Saved, ResumeFileError> {
        lock(&key_file)?;
        let found = check(&key_file)?;
        let bytes = read_key(&key_file)?;
        let (secret, _) = format::decode_secret(&bytes).ok_or(ResumeFileError::Foreign)?;
        let (record, progress_file, opened) = self.open_record(name, &secret)?;
        let Opened { first, rest, progress } = opened;
        let facts: SessionFacts =
            serde_json::from_slice(&first).map_err(|_| ResumeFileError::Foreign)?;
        if !facts.is_of([identity_of(&found), identity_of(&record)]) {
            return Err(ResumeFileError::Copied);
        }
        let here = Origin::ours();
        if facts.computer != here.computer {
            return Err(ResumeFileError::OtherComputer);
        }
        if !facts.is_on_disk && facts.boot != here.boot {
            return Err(ResumeFileError::OtherBoot);
        }
        let written_at = record.mtime();
        let sealed = facts.key.as_ref();
        let session_key = sealed
            .map(|it| format::open_key(&secret, it).ok_or(ResumeFileError::Foreign))
            .transpose()?;
        let store = Store {
            folders: self.clone(),
            name: name.to_owned(),
            key_file,
            secret,
            progress_file,
            progress,
            written: None,
            disk: System,
        };
        Ok(Saved { facts, key: session_key, records: rest, written_at, store })
    }

    fn open_record(
        &self,
        name: &str,
        secret: &Secret,
    ) -> Result<(fs::Metadata, File, Opened), ResumeFileError> {
        let path = self.record_path(name, !self.record_path(name, false).exists());
        let file = open(&path, OpenOptions::new().read(true))?;
        let at_path = path.with_extension(PROGRESS);
        let progress_file = open(&at_path, OpenOptions::new().read(true).write(true))?;
        check(&progress_file)?;
        let written = bounded::read(&progress_file, 64)?;
        let written = Progress::decode(&written).ok_or(ResumeFileError::Truncated)?;
        let record = check(&file)?;
        let bytes = bounded::read(&file, FILE_BYTES_MAX)?;
        Ok((record, progress_file, format::open(secret, written, &bytes)?))
    }
}

/// A session whose client is gone.
pub(crate) struct Saved {
    pub(crate) facts: SessionFacts,
    /// The session key. `None` if the next client gets a new key over ssh.
    pub(crate) key: Option<Key>,
    /// The records, for [`rove_session::Client::resume`], or for [`rove_session::LeftKeys::read`] if the next client
    /// gets a new key over ssh.
    pub(crate) records: Zeroizing<Vec<u8>>,
    /// The record's time of modification, in seconds since 1970.
    pub(crate) written_at: i64,
    /// The session's files, which the next client replaces.
    pub(crate) store: Store,
}

/// The files of a session, whose lock this process holds.
pub(crate) struct Store<D = System> {
    folders: Folders,
    name: String,
    key_file: File,
    secret: Secret,
    progress_file: File,
    progress: Progress,
    /// The file that this process writes. `None` until it has written a whole record.
    written: Option<(Sealer, File)>,
    disk: D,
}

impl<D: Disk> Store<D> {
    /// Creates the key file and the progress file of a session. The record's file is created by the first whole record.
    pub(super) fn create(
        folders: Folders,
        secret: Secret,
        is_on_disk: bool,
        mut disk: D,
    ) -> Result<Self, ResumeFileError> {
        let name: String = draw()?[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        let files = Self::create_files(&folders, &name, &secret, is_on_disk, &mut disk);
        let (key_file, progress_file) = files.inspect_err(|_| folders.remove(&name))?;
        let progress = Progress::default();
        Ok(Self { folders, name, key_file, secret, progress_file, progress, written: None, disk })
    }

    fn create_files(
        folders: &Folders,
        name: &str,
        secret: &Secret,
        is_on_disk: bool,
        disk: &mut D,
    ) -> Result<(File, File), ResumeFileError> {
        let options = OpenOptions::new().read(true).write(true).create_new(true).clone();
        let key_file = open(&folders.key_path(name), &mut options.clone())?;
        lock(&key_file)?;
        let path = folders.record_path(name, is_on_disk);
        if is_on_disk {
            Directory::create_all(&folders.disk)?;
        }
        let place = match is_on_disk {
            true => path.as_os_str().as_bytes().to_vec(),
            false => Origin::ours().place(&path),
        };
        disk.write(&key_file, &format::encode_secret(secret, &place), 0)?;
        let path = path.with_extension(PROGRESS);
        let progress_file = open(&path, OpenOptions::new().write(true).create_new(true))?;
        disk.write(&progress_file, &Progress::default().encode(), 0)?;
        if is_on_disk {
            // A crash of the computer may undo later progress, but must not undo these files or the folder's entry.
            for file in [&key_file, &progress_file, &File::open(folders.keys.path())?] {
                disk.sync(file)?;
            }
        }
        Ok((key_file, progress_file))
    }

    /// Writes a record: a whole record to a new file (a generation), and a record of changes to the end of that file.
    ///
    /// # Errors
    ///
    /// Returns why the record could not be written. The session then goes on without a record.
    pub(crate) fn write(
        &mut self,
        facts: &SessionFacts,
        record: &Record,
    ) -> Result<(), ResumeFileError> {
        if record.is_whole {
            return self.write_whole(facts, record);
        }
        let Some((sealer, file)) = &mut self.written else {
            return Err(io::Error::other("there is no whole record").into());
        };
        let mut bytes = Vec::with_capacity(record.bytes.len() + 64);
        sealer.seal(&record.bytes, &mut bytes);
        self.disk.write(file, &bytes, sealer.len)?;
        sealer.len += u64::try_from(bytes.len()).expect("a length fits 64 bits");
        if facts.is_on_disk {
            self.disk.sync(file)?;
        }
        self.note_progress()
    }

    fn write_whole(
        &mut self,
        facts: &SessionFacts,
        record: &Record,
    ) -> Result<(), ResumeFileError> {
        let path = self.folders.record_path(&self.name, facts.is_on_disk);
        let next = path.with_extension(NEXT);
        own_file::remove(&next)?;
        let file = open(&next, OpenOptions::new().write(true).create_new(true))?;
        let files = [identity_of(&self.key_file.metadata()?), identity_of(&file.metadata()?)];
        let facts = SessionFacts { files, ..facts.clone() };
        let text = Zeroizing::new(serde_json::to_vec(&facts).expect("facts are text and numbers"));
        let generation = self.progress.generation + 1;
        let (mut sealer, mut bytes) = Sealer::begin(&self.secret, generation, draw()?);
        bytes.extend(format::first_records(&mut sealer, &text, record));
        self.disk.write(&file, &bytes, 0)?;
        sealer.len = u64::try_from(bytes.len()).expect("a length fits 64 bits");
        if facts.is_on_disk {
            self.disk.sync(&file)?;
        }
        self.disk.rename(&next, &path)?;
        if facts.is_on_disk {
            self.disk.sync(&File::open(path.parent().expect("it is in a folder"))?)?;
        }
        self.written = Some((sealer, file));
        self.note_progress()
    }

    /// Returns whether the files that this process writes were removed or replaced. The system removes the runtime
    /// directory of a user who seems to have logged out.
    pub(super) fn is_gone(&self, is_on_disk: bool) -> bool {
        let Some((_, record)) = &self.written else { return false };
        let path = self.folders.record_path(&self.name, is_on_disk);
        let is_there = |path: &Path, file: &File| {
            let [found, own] = [path.symlink_metadata(), file.metadata()];
            found.is_ok_and(|found| own.is_ok_and(|own| identity_of(&found) == identity_of(&own)))
        };
        !is_there(&path, record) || !is_there(&path.with_extension(PROGRESS), &self.progress_file)
    }

    /// Writes the progress to its file. From here on, an older copy of the record is refused.
    fn note_progress(&mut self) -> Result<(), ResumeFileError> {
        let (sealer, _) = self.written.as_ref().expect("something was written");
        debug_assert!(self.progress < sealer.progress, "each write adds a piece");
        self.progress = sealer.progress;
        Ok(self.disk.write(&self.progress_file, &self.progress.encode(), 0)?)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn secret(&self) -> Secret {
        self.secret.clone()
    }

    /// Returns the descriptor that holds the lock until it is closed. Child processes do not inherit it.
    pub(crate) fn into_lock(self) -> RawFd {
        self.key_file.into_raw_fd()
    }

    /// Removes all files of the session.
    pub(crate) fn remove(self) {
        self.folders.remove(&self.name);
    }
}

/// Keeps the lock of a store ([`Store::into_lock`]) for the program that this process becomes.
pub(crate) fn keep_lock(lock: RawFd) -> io::Result<()> {
    let lock = sys::take_descriptor(lock).ok_or(ErrorKind::NotFound)?;
    fcntl_setfd(&lock, FdFlags::empty())?;
    let _ = lock.into_raw_fd();
    Ok(())
}

/// Returns a file's metadata if only the user may read or write the file, and an error otherwise.
fn check(file: &File) -> Result<fs::Metadata, ResumeFileError> {
    own_file::check(file)?.ok_or(ResumeFileError::Foreign)
}

fn lock(file: &File) -> Result<(), ResumeFileError> {
    flock(file, FlockOperation::NonBlockingLockExclusive).map_err(|_| ResumeFileError::Busy)
}

fn identity_of(found: &fs::Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

/// Returns the whole contents of a key file, although another program may have read from the same descriptor.
fn read_key(file: &File) -> io::Result<Zeroizing<Vec<u8>>> {
    let len = file.metadata()?.len().min(FILE_BYTES_MAX);
    let mut bytes = Zeroizing::new(vec![0; usize::try_from(len).map_err(io::Error::other)?]);
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

pub(super) fn draw() -> Result<[u8; 16], ResumeFileError> {
    Ok(entropy::salt().map_err(io::Error::other)?)
}

#[cfg(test)]
mod tests;
