//! Finds the directory of the control sockets, and checks that only this process's user may enter it.

use std::ffi::OsString;
use std::fmt::{self, Display};
use std::fs::{DirBuilder, DirEntry, Metadata};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, symlink};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::str::FromStr;

#[cfg(any(target_os = "linux", target_os = "android"))]
use nix::sys::socket::{getsockopt, sockopt::PeerCredentials};
use rove_platform::termux;
use rustix::event::{Timespec, poll};
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
use rustix::process::{Pid, Uid, geteuid, test_kill_process};
use socket2::{Domain, SockAddr, Socket, Type};

/// Environment variable that names the only directory of control sockets, in place of the usual directories.
const DIRECTORY_VARIABLE: &str = "ROVE_RUNTIME_DIR";
/// Environment variable that names the user's runtime directory (XDG Base Directory Specification).
const XDG_VARIABLE: &str = "XDG_RUNTIME_DIR";
/// Most entries read from a directory of sockets; later ones are ignored. Chosen: four for each of 999 default ports.
const ENTRIES_MAX: usize = 4096;
/// Mode of a directory of control sockets, which only its owner may enter.
const PRIVATE: u32 = 0o700;
/// The longest file name of a control socket, with a dot until it is ready. Source: Linux's process numbers (proc(5)).
const LONGEST_NAME: &str = ".4194304-65535";
/// Number of tries for a lock until a process goes on without it. Chosen: with [`LOCK_WAIT`] a tenth of a second. The
/// lock is seldom held for a millisecond, and an event loop must not wait for a process that is stopped.
const LOCK_TRIES: usize = 20;
/// Wait between two tries of a lock.
const LOCK_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };
/// Suffix of the symbolic link that stores a session's label (the user's name for the session) as its target.
const LABEL_SUFFIX: &str = ".label";

/// The file name of a session's control socket, which identifies the session on this computer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionName {
    /// The process number of the session's server.
    pub pid: u32,
    /// The UDP port of the session's server.
    pub port: u16,
}

impl Display for SessionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.pid, self.port)
    }
}

impl FromStr for SessionName {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (pid, port) = text.split_once('-').ok_or(())?;
        let name = Self { pid: pid.parse().map_err(|_| ())?, port: port.parse().map_err(|_| ())? };
        // Each session has exactly one name, so signs and leading zeros are refused.
        if name.to_string() == text { Ok(name) } else { Err(()) }
    }
}

/// The reason why a directory is not used for control sockets.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// The path belongs to another user, who could have put files there.
    #[error("{0:?} belongs to another user: have it removed")]
    Foreign(PathBuf),
    /// The directory's mode is not 0700, so other users may be able to enter it or to write to it.
    #[error("others may enter {0:?}: chmod 700 it, or remove it")]
    Open(PathBuf),
    /// The path is a file or a symbolic link of this user.
    #[error("{0:?} is not a directory: have it removed")]
    NotDirectory(PathBuf),
    /// A system call failed for this path.
    #[error("{0:?}: {1}")]
    Io(PathBuf, io::Error),
}

/// The path of a directory whose owner is this user and whose mode lets no other user in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directory(PathBuf);

impl Directory {
    /// Checks the owner and mode of the directory at `path`, and returns it. `None` if there is no directory.
    ///
    /// # Errors
    ///
    /// Returns why the directory is not trusted.
    pub fn open(path: &Path) -> Result<Option<Self>, DirectoryError> {
        let path = path.to_owned();
        // `symlink_metadata` does not follow a symbolic link, so a link is refused below.
        let found = match path.symlink_metadata() {
            Ok(found) => found,
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(DirectoryError::Io(path, error)),
        };
        if found.uid() != geteuid().as_raw() {
            return Err(DirectoryError::Foreign(path));
        }
        if !found.is_dir() {
            return Err(DirectoryError::NotDirectory(path));
        }
        if found.mode() & 0o777 != PRIVATE {
            return Err(DirectoryError::Open(path));
        }
        // From here on no other user can replace the directory, because its parent is the user's, root's or sticky.
        Ok(Some(Self(path)))
    }

    /// Creates the directory at `path` if it is missing, and returns it after the checks of [`Self::open`].
    ///
    /// # Errors
    ///
    /// Returns why the directory is not used, for example because its parent belongs to another user.
    pub fn create(path: &Path) -> Result<Self, DirectoryError> {
        let failed = |error| DirectoryError::Io(path.to_owned(), error);
        let parent = path.parent().unwrap_or(Path::new("/"));
        // The owner of a directory can replace its entries. After `su`, the environment may still point to a directory
        // of the former user, so nothing is created there.
        let owner = parent.metadata().map_err(failed)?.uid();
        if owner != geteuid().as_raw() && owner != Uid::ROOT.as_raw() {
            return Err(DirectoryError::Foreign(parent.to_owned()));
        }
        match DirBuilder::new().mode(PRIVATE).create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(failed(error)),
            _ => Self::open(path)?.ok_or_else(|| failed(io::ErrorKind::NotFound.into())),
        }
    }

    /// Works as [`Self::create`] does, after creating the missing parents.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Self::create`].
    pub fn create_all(path: &Path) -> Result<Self, DirectoryError> {
        let parent = path.parent().unwrap_or(path);
        let made = DirBuilder::new().recursive(true).mode(PRIVATE).create(parent);
        made.map_err(|error| DirectoryError::Io(parent.to_owned(), error))?;
        Self::create(path)
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the path of a session's socket while the server answers no requests: until the socket accepts
    /// connections, and after the session, while the server only lingers ([`crate::Handover`]).
    pub(crate) fn unready_socket(&self, name: SessionName) -> PathBuf {
        self.0.join(format!(".{name}"))
    }

    /// Returns the control sockets in the directory, sorted by name. Removes sockets and labels of dead processes.
    pub(crate) fn sockets(&self) -> Vec<(SessionName, PathBuf)> {
        self.remove_leftovers();
        self.named(|text| text.parse().ok())
    }

    /// Removes the sockets and labels of dead processes. A process number that does not exist here may belong to a
    /// server outside this container. Its socket is therefore removed only if it refuses a connection.
    pub(crate) fn remove_leftovers(&self) {
        for entry in self.entries() {
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let socket = match entry.file_type() {
                Ok(kind) if kind.is_socket() => name,
                Ok(kind) if kind.is_symlink() => session_of(name),
                _ => continue,
            };
            // A label of a dead process is also removed if its socket is missing.
            let is_refusal =
                |kind| matches!(kind, ErrorKind::ConnectionRefused | ErrorKind::NotFound);
            let is_left = || connect(&self.0.join(socket)).is_err_and(|it| is_refusal(it.kind()));
            if owner(name).is_some_and(|pid| !is_running(pid)) && is_left() {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    /// Returns the sockets whose file names are those of sessions by `name_of`, sorted by name.
    pub(crate) fn named(
        &self,
        name_of: impl Fn(&str) -> Option<SessionName>,
    ) -> Vec<(SessionName, PathBuf)> {
        let sockets = self.entries().filter(|it| it.file_type().is_ok_and(|kind| kind.is_socket()));
        let mut found: Vec<_> = sockets
            .filter_map(|entry| Some((name_of(entry.file_name().to_str()?)?, entry.path())))
            .collect();
        found.sort();
        found
    }

    fn entries(&self) -> impl Iterator<Item = DirEntry> {
        self.0.read_dir().into_iter().flatten().take(ENTRIES_MAX).flatten()
    }
}

/// Returns the process number in the file name of a socket or label. `None` for other names.
fn owner(file_name: &str) -> Option<u32> {
    let name = session_of(file_name);
    match name.parse() {
        Ok(SessionName { pid, .. }) => Some(pid),
        // ssh adds a dot and random characters until its socket is ready.
        Err(()) => name.rsplit_once('-')?.1.split('.').next()?.parse().ok(),
    }
}

/// Returns the file name of a session's control socket, from the file name of its label or its unready socket.
fn session_of(file_name: &str) -> &str {
    let name = file_name.strip_prefix('.').unwrap_or(file_name);
    name.strip_suffix(LABEL_SUFFIX).unwrap_or(name)
}

/// Writes a session's label beside its control socket, to be read if the server does not answer. `None` removes it.
pub(crate) fn write_label(socket: &Path, label: Option<&str>) {
    let path = label_path(socket);
    // A dead server with the same process number and port may have left a label.
    let _ = std::fs::remove_file(&path);
    if let Some(Err(error)) = label.map(|label| symlink(label, &path)) {
        tracing::warn!(%error, "the session's name is told only while the server answers");
    }
}

/// Reads a session's label beside its control socket. `None` if there is no label. Older servers write none.
pub(crate) fn label(socket: &Path) -> Option<String> {
    std::fs::read_link(label_path(socket)).ok()?.into_os_string().into_string().ok()
}

fn label_path(socket: &Path) -> PathBuf {
    let name = socket.file_name().unwrap_or_default().to_string_lossy();
    socket.with_file_name(format!(".{name}{LABEL_SUFFIX}"))
}

/// Returns the user's directory for sockets and locks: the first candidate that can be used, created if needed.
///
/// # Errors
///
/// Returns why the last candidate cannot be used.
pub fn runtime_directory() -> Result<Directory, DirectoryError> {
    usable(&paths())
}

fn usable(paths: &[PathBuf]) -> Result<Directory, DirectoryError> {
    let mut refusal = None;
    for path in paths {
        match Directory::create(path) {
            Ok(directory) => return Ok(directory),
            Err(error) => {
                tracing::debug!(%error, "directory of no use");
                refusal = Some(error);
            }
        }
    }
    Err(refusal.expect("there is always a directory to try"))
}

/// Gets a lock, which only one process of this user can hold at a time. `name` is the lock file's name. `lock` locks
/// the file: [`wait_for_file`] or, in an event loop, [`lock_file`]. Closing the returned file releases the lock.
///
/// # Errors
///
/// Returns why no directory can be used, or why the lock failed.
pub fn lock(
    name: &str,
    lock: impl FnOnce(BorrowedFd<'_>) -> io::Result<()>,
) -> Result<OwnedFd, DirectoryError> {
    let path = runtime_directory()?.0.join(name);
    let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR).map_err(io::Error::from);
    let locked = file.and_then(|file| lock(file.as_fd()).map(|()| file));
    locked.map_err(|error| DirectoryError::Io(path, error))
}

/// Locks a file, however long another process holds the lock.
///
/// # Errors
///
/// Returns the system's error.
pub fn wait_for_file(file: BorrowedFd<'_>) -> io::Result<()> {
    Ok(rustix::io::retry_on_intr(|| flock(file, FlockOperation::LockExclusive))?)
}

/// Locks a file in a tenth of a second of tries.
///
/// # Errors
///
/// Returns the system's error, or `WouldBlock` if another process holds the lock for longer.
pub fn lock_file(file: BorrowedFd<'_>) -> io::Result<()> {
    for _ in 0..LOCK_TRIES {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            result => return Ok(result?),
        }
        let _ = poll(&mut [], Some(&LOCK_WAIT));
    }
    Err(ErrorKind::WouldBlock.into())
}

/// Returns a path in the directory of control sockets for a socket that only this process opens. The file name begins
/// with `purpose`. `None` if no directory can be used. Removes sockets and labels of dead processes.
pub fn private_socket(purpose: &str) -> Option<PathBuf> {
    let directory = runtime_directory().ok()?;
    directory.remove_leftovers();
    let path = directory.0.join(format!("{purpose}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    Some(path)
}

/// Returns the sockets whose file names begin with `purpose` and `-`, as [`private_socket`] forms them, the newest
/// first. The processes that made the sockets may have ended.
pub fn sockets_of(purpose: &str) -> Vec<PathBuf> {
    let prefix = format!("{purpose}-");
    let directories = existing().0;
    let entries = directories.iter().flat_map(Directory::entries);
    let meant = entries.filter(|it| it.file_name().to_string_lossy().starts_with(&prefix));
    let sockets = meant.filter(|it| it.file_type().is_ok_and(|kind| kind.is_socket()));
    let mut found: Vec<_> =
        sockets.map(|it| (it.metadata().and_then(|it| it.modified()).ok(), it.path())).collect();
    found.sort();
    found.into_iter().rev().map(|(_, path)| path).collect()
}

/// Returns all trusted directories where this user's sockets may be, and why the others are not trusted.
pub(crate) fn existing() -> (Vec<Directory>, Vec<DirectoryError>) {
    existing_at(&paths())
}

fn existing_at(paths: &[PathBuf]) -> (Vec<Directory>, Vec<DirectoryError>) {
    let (mut directories, mut errors, mut has_place) = (Vec::new(), Vec::new(), false);
    for path in paths {
        match Directory::open(path) {
            Ok(directory) => {
                has_place |= directory.is_some() || path.parent().is_some_and(Path::is_dir);
                directories.extend(directory);
            }
            Err(error) => errors.push(error),
        }
    }
    // Any user can create an entry in /tmp. Servers of this user then use another directory, if there is a place for it.
    errors.retain(|it| !has_place || !matches!(it, DirectoryError::Foreign(_)));
    (directories, errors)
}

/// Returns whether the process at the other end of a connection runs as this user or as the administrator.
pub fn is_of_user(stream: &UnixStream) -> bool {
    is_peer(stream, |user| user == geteuid() || user.is_root())
}

/// Connects as [`connect`] does, to a socket at which a process of this user or of the administrator listens.
///
/// # Errors
///
/// Returns the system's error, or `PermissionDenied` if another user's process listens there.
pub fn connect_to_user(path: &Path) -> io::Result<UnixStream> {
    let stream = connect(path)?;
    if is_of_user(&stream) { Ok(stream) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

/// Returns whether `counts` is true for the user of the process at the other end. False if the user is unknown.
pub(crate) fn is_peer(stream: &UnixStream, counts: impl Fn(Uid) -> bool) -> bool {
    // Linux and Android have `SO_PEERCRED`, and other systems `getpeereid`.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let user = getsockopt(stream, PeerCredentials).ok().map(|peer| Uid::from_raw(peer.uid()));
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let user = nix::unistd::getpeereid(stream).ok().map(|(user, _)| Uid::from_raw(user.as_raw()));
    user.is_some_and(counts)
}

/// Connects to a socket without blocking, because the process that listens there may be stopped. Reads and writes on
/// the connection do not block either.
///
/// # Errors
///
/// Returns the system's error, which is `WouldBlock` if the queue of connections to the socket is full.
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    socket.connect(&SockAddr::unix(path)?)?;
    Ok(OwnedFd::from(socket).into())
}

/// Returns whether a failed read or write must be tried again later.
pub(crate) fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Returns whether a process with this number exists. A process that may not be signalled counts as existing.
pub(crate) fn is_running(pid: u32) -> bool {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}

fn paths() -> Vec<PathBuf> {
    let [chosen, runtime] = [DIRECTORY_VARIABLE, XDG_VARIABLE].map(std::env::var_os);
    candidates(chosen, runtime, termux::prefix(), geteuid().as_raw())
}

/// Returns the possible directories of control sockets, in order of preference. An absolute path in `chosen` is the
/// only one. Otherwise all usual paths are included, because a server may have started with another environment.
fn candidates(
    chosen: Option<OsString>,
    runtime: Option<OsString>,
    termux: Option<PathBuf>,
    user: u32,
) -> Vec<PathBuf> {
    let absolute = |it: Option<OsString>| it.map(PathBuf::from).filter(|it| it.is_absolute());
    if let Some(chosen) = absolute(chosen) {
        return vec![chosen];
    }
    // After `su`, `XDG_RUNTIME_DIR` may still name the former user's directory.
    let is_mine = |it: Metadata| it.uid() == user || it.uid() == 0 && it.mode() & 0o001 != 0;
    let is_own = |path: &PathBuf| path.metadata().map_or(true, is_mine);
    let usual = PathBuf::from(format!("/run/user/{user}/rove"));
    let runtime = absolute(runtime).filter(is_own).map(|path| path.join("rove"));
    // No socket can be bound at a path that is too long for a socket address.
    let has_room = |path: &PathBuf| SockAddr::unix(path.join(LONGEST_NAME)).is_ok();
    let runtime = runtime.filter(|path| has_room(path) && *path != usual);
    let mut paths: Vec<PathBuf> = runtime.into_iter().collect();
    paths.extend(termux.map(|prefix| prefix.join(format!("tmp/rove-{user}"))));
    paths.extend([usual, format!("/tmp/rove-{user}").into()]);
    paths
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener;

    use rove_rig::scratch::Scratch;

    use super::*;

    #[test]
    fn a_sockets_name_is_process_and_port() {
        let name = SessionName { pid: 17, port: 60_001 };
        assert_eq!(name.to_string().parse(), Ok(name));
        for text in ["17", "17-", "-60001", "17-60001-1", "017-60001", "+17-60001", "17-70000", "x"]
        {
            assert!(text.parse::<SessionName>().is_err(), "{text}");
        }
    }

    #[test]
    fn sockets_are_where_the_environment_says_or_where_they_usually_are() {
        let text = |text: &str| (!text.is_empty()).then(|| OsString::from(text));
        for (chosen, runtime, expected) in [
            ("", "", &["/run/user/7/rove", "/tmp/rove-7"] as &[&str]),
            ("", "/run/user/7", &["/run/user/7/rove", "/tmp/rove-7"]),
            ("", "/x", &["/x/rove", "/run/user/7/rove", "/tmp/rove-7"]),
            ("", "relative", &["/run/user/7/rove", "/tmp/rove-7"]),
            ("/y", "/x", &["/y"]),
        ] {
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(candidates(text(chosen), text(runtime), None, 7), expected);
        }
        // The longest name of a socket fits below the first path, but not below the second.
        for (len, is_taken) in [(83, true), (88, false)] {
            let runtime = format!("/{}", "x".repeat(len - 1));
            let found = candidates(None, text(&runtime), None, 7);
            assert_eq!(found.len(), if is_taken { 3 } else { 2 }, "{found:?}");
        }
        let termux = PathBuf::from("/data/data/com.termux/files/usr");
        let found = candidates(None, None, Some(termux.clone()), 7);
        assert_eq!(found[0], termux.join("tmp/rove-7"), "Android has no /tmp");
    }

    #[test]
    fn a_directory_that_others_may_enter_or_put_there_is_not_used() {
        let scratch = Scratch::new();
        let path = |name: &str| scratch.path(name);
        assert_eq!(Directory::open(&path("none")).unwrap(), None);
        let good = Directory::create(&path("good")).unwrap();
        assert_eq!(Directory::create(&path("good")).unwrap(), good, "a second server finds it");
        assert_eq!(path("good").metadata().unwrap().permissions().mode() & 0o7777, PRIVATE);

        symlink(path("good"), path("link")).unwrap();
        std::fs::write(path("file"), "").unwrap();
        for name in ["link", "file"] {
            let error = Directory::create(&path(name)).unwrap_err();
            assert!(matches!(error, DirectoryError::NotDirectory(_)), "{name}: {error}");
        }
        for mode in [0o755, 0o701, 0o770, 0o777] {
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(path("good"), permissions).unwrap();
            let error = Directory::create(&path("good")).unwrap_err();
            assert!(matches!(error, DirectoryError::Open(_)), "{mode:o}: {error}");
        }
    }

    #[test]
    fn another_users_directory_is_not_used() {
        if !geteuid().is_root() {
            return; // only root can give away a directory
        }
        let scratch = Scratch::new();
        let theirs = scratch.path("theirs");
        Directory::create(&theirs).unwrap();
        std::os::unix::fs::chown(&theirs, Some(12_345), None).unwrap();
        for path in [theirs.clone(), theirs.join("rove")] {
            let error = Directory::create(&path).unwrap_err();
            assert!(matches!(error, DirectoryError::Foreign(_)), "{path:?}: {error}");
        }
        // Another user who takes a path keeps nobody from another path, and is named only where there is no other.
        let free = scratch.path("free");
        for (paths, taken) in [(vec![theirs.clone(), free.clone()], 0), (vec![theirs.clone()], 1)] {
            assert_eq!(existing_at(&paths).1.len(), taken);
            assert_eq!(usable(&paths).ok().map(|it| it.0), (taken == 0).then(|| free.clone()));
        }
        // After `su`, the variable still names the former user's directory, which must be ignored.
        let theirs = OsString::from(theirs);
        let found = |user| candidates(None, Some(theirs.clone()), None, user);
        assert_eq!(found(7), candidates(None, None, None, 7));
        assert_eq!(found(12_345)[0], Path::new(&theirs).join("rove"));
        // The link could be another user's, although it leads to a directory that would itself be accepted.
        let (good, link) = (scratch.path("good"), scratch.path("link"));
        Directory::create(&good).unwrap();
        symlink(&good, &link).unwrap();
        std::os::unix::fs::lchown(&link, Some(12_345), None).unwrap();
        let error = Directory::create(&link).unwrap_err();
        assert!(matches!(error, DirectoryError::Foreign(_)), "{error}");
    }

    #[test]
    fn only_sockets_are_listed_and_those_and_labels_of_the_dead_are_removed() {
        let scratch = Scratch::new();
        let directory = Directory::create(&scratch.path("d")).unwrap();
        // No process can have this number.
        let dead = SessionName { pid: u32::MAX, port: 1 };
        let own = SessionName { pid: std::process::id(), port: 2 };
        let paths = [
            directory.0.join(dead.to_string()),
            directory.0.join(own.to_string()),
            directory.unready_socket(dead),
            directory.unready_socket(own),
            directory.0.join("other"),
            directory.0.join(format!("agent-{}", u32::MAX)),
            directory.0.join(format!("agent-{}", std::process::id())),
            // ssh binds its ControlPath under a name with random characters first.
            directory.0.join(format!("ssh-{}.aB3dE5gH", u32::MAX)),
            directory.0.join(format!("ssh-{}.aB3dE5gH", std::process::id())),
        ];
        for path in &paths {
            drop(UnixListener::bind(path).unwrap());
        }
        std::fs::write(directory.0.join("3-3"), "").unwrap();
        for (socket, name) in [(&paths[0], "work"), (&paths[1], "mail")] {
            write_label(socket, Some(name));
            assert_eq!(label(socket).as_deref(), Some(name));
        }
        assert_eq!(directory.sockets(), [(own, paths[1].clone())]);
        let are_there = paths.each_ref().map(|path| path.exists());
        assert_eq!(are_there, [false, true, false, true, true, false, true, false, true]);
        let labels = [&paths[0], &paths[1]].map(|socket| label(socket));
        assert_eq!(labels, [None, Some("mail".to_owned())]);
        // This listener is like a server outside the container, whose process number does not exist inside.
        let _unseen = UnixListener::bind(&paths[0]).unwrap();
        write_label(&paths[0], Some("work"));
        assert_eq!(directory.sockets().len(), 2);
        assert_eq!(label(&paths[0]).as_deref(), Some("work"));
        // The next session with the same process number and port has no label.
        write_label(&paths[1], None);
        assert_eq!(label(&paths[1]), None);
    }
}
