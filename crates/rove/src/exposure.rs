//! Checks whether anybody except the user and root can change the file at a path.
//!
//! A file is only as safe as the folders on the way to it. A user who may write a folder can replace the files in it.
//! [`way`] therefore checks each folder and symbolic link on the way. It skips folders above the home directory,
//! because a user who can change one of them controls the account anyway.
//!
//! In a folder with the sticky bit that everybody may write, such as `/tmp`, only the owner can rename a folder. So
//! folders there are safe. A file, a link or a socket there is not safe, because anybody may create another in its
//! place after its removal.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use rustix::process::{Uid, geteuid};

use crate::getent;

/// Most symbolic links that are followed on the way to a file. Source: Linux's own limit, path_resolution(7).
const LINKS_MAX: usize = 40;
/// The mode bit of a folder in which only an entry's owner may rename or remove the entry.
const STICKY: u32 = 0o1000;
/// The mode bits by which a group, and everybody, may write.
const GROUP_WRITES: u32 = 0o020;
const WORLD_WRITES: u32 = 0o002;

/// Why a file, a folder or a link is not known to be safe from changes by others.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Exposure {
    /// The entry at `path` belongs to another user.
    #[error("{path:?} belongs to user {owner}, who is neither you nor root")]
    Foreign { path: PathBuf, owner: u32 },
    /// Everybody may write the entry at `path`.
    #[error("everybody may write {path:?}")]
    World { path: PathBuf },
    /// A group that may have other members may write the entry at `path`.
    #[error("all members of group {group} may write {path:?}")]
    Group { path: PathBuf, group: u32 },
    /// The system returned an error for `path`.
    #[error("{path:?}: {error}")]
    Io { path: PathBuf, error: io::Error },
}

impl Exposure {
    /// Returns whether the only fault is that the path does not exist.
    pub(crate) fn is_absence(&self) -> bool {
        matches!(self, Self::Io { error, .. } if error.kind() == io::ErrorKind::NotFound)
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Foreign { path, .. }
            | Self::World { path }
            | Self::Group { path, .. }
            | Self::Io { path, .. } => path,
        }
    }

    /// Returns the shell command that repairs the fault. `None` for [`Exposure::Io`].
    pub(crate) fn repair(&self) -> Option<String> {
        let (program, how, path) = match self {
            Self::Foreign { path, .. } => ("chown -h", geteuid().as_raw().to_string(), path),
            Self::World { path } => ("chmod", "go-w".to_owned(), path),
            Self::Group { path, .. } => ("chmod", "g-w".to_owned(), path),
            Self::Io { .. } => return None,
        };
        Some(format!("{program} {how} {}", shell_words::quote(&path.to_string_lossy())))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A folder from which the way leads to another folder.
    FolderWithFolder,
    /// A folder from which the way leads to anything else, such as a link, a file or a missing entry.
    FolderWithOther,
    /// A symbolic link, or anything else whose mode does not matter.
    Link,
    /// The file at the end of the way.
    File,
}

/// The facts that decide whether others can change a file, a folder or a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Evidence {
    kind: Kind,
    owner: u32,
    group: u32,
    mode: u32,
}

/// The reason why others can change a file, a folder or a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flaw {
    Foreign,
    World,
    Group,
}

impl Evidence {
    fn new(kind: Kind, found: &std::fs::Metadata) -> Self {
        Self { kind, owner: found.uid(), group: found.gid(), mode: found.mode() }
    }

    /// Fails if anybody except `user` and root can change the entry. `is_private` returns whether the owner is the only
    /// member of the entry's group.
    fn judge(self, user: u32, is_private: impl FnOnce() -> bool) -> Result<(), Flaw> {
        let Self { kind, owner, mode, .. } = self;
        if owner != user && owner != Uid::ROOT.as_raw() {
            return Err(Flaw::Foreign);
        }
        let is_protected = kind == Kind::FolderWithFolder && mode & STICKY != 0;
        if kind == Kind::Link || is_protected {
            return Ok(());
        }
        if mode & WORLD_WRITES != 0 {
            return Err(Flaw::World);
        }
        if mode & GROUP_WRITES != 0 && !is_private() {
            return Err(Flaw::Group);
        }
        Ok(())
    }

    /// Works as [`Evidence::judge`] does, and names `path` in the error. `has_list` says that the entry has an access
    /// control list, with which the group bits may also apply to other users.
    fn check(self, user: u32, path: &Path, has_list: bool) -> Result<(), Exposure> {
        let is_private = || !has_list && is_private_group(self.owner, self.group);
        let path = path.to_owned();
        self.judge(user, is_private).map_err(|flaw| match flaw {
            Flaw::Foreign => Exposure::Foreign { path, owner: self.owner },
            Flaw::World => Exposure::World { path },
            Flaw::Group => Exposure::Group { path, group: self.group },
        })
    }
}

/// Checks each folder and link on the way to `path`, except folders above `home`. Returns the path without links.
///
/// # Errors
///
/// Returns the first folder or link on the way that somebody else can change. If `path` does not exist and nobody else
/// can create it, [`Exposure::is_absence`] is true of the error.
pub(crate) fn way(path: &Path, home: Option<&Path>) -> Result<PathBuf, Exposure> {
    way_of(geteuid().as_raw(), path, home)
}

/// Works as [`way`] does, for a file that only `user` and root may change.
pub(crate) fn way_of(user: u32, path: &Path, home: Option<&Path>) -> Result<PathBuf, Exposure> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |error| Exposure::Io { path, error }
    };
    let home = home.and_then(|home| home.canonicalize().ok());
    let is_above_home = |folder: &Path| {
        home.as_ref().is_some_and(|home| home != folder && home.starts_with(folder))
    };
    let start = std::path::absolute(path).map_err(failed(path))?;
    let mut at = PathBuf::from("/");
    let mut ahead = names(&start);
    let mut links = 0;
    while let Some(name) = ahead.pop_front() {
        if name == ".." {
            at.pop();
            continue;
        }
        let entry = at.join(&name);
        let found = entry.symlink_metadata();
        let is_folder = found.as_ref().is_ok_and(|found| found.is_dir());
        if !is_above_home(&at) {
            let kind = if is_folder { Kind::FolderWithFolder } else { Kind::FolderWithOther };
            let folder = at.symlink_metadata().map_err(failed(&at))?;
            Evidence::new(kind, &folder).check(user, &at, has_access_list(&at))?;
        }
        let found = found.map_err(failed(&entry))?;
        if !found.is_symlink() {
            at = entry;
            continue;
        }
        Evidence::new(Kind::Link, &found).check(user, &entry, false)?;
        links += 1;
        if links > LINKS_MAX {
            return Err(failed(&entry)(rustix::io::Errno::LOOP.into()));
        }
        let target = entry.read_link().map_err(failed(&entry))?;
        if target.is_absolute() {
            at = PathBuf::from("/");
        }
        for name in names(&target).into_iter().rev() {
            ahead.push_front(name);
        }
    }
    Ok(at)
}

/// Checks that only this user and root can change an open file with the metadata `found`. `path` comes from [`way`].
///
/// # Errors
///
/// Returns why somebody else can change the file.
pub(crate) fn file(path: &Path, found: &std::fs::Metadata) -> Result<(), Exposure> {
    // The mode of a device does not matter. For example, nobody can read the bytes that others write to /dev/null.
    let kind = if found.file_type().is_char_device() { Kind::Link } else { Kind::File };
    Evidence::new(kind, found).check(geteuid().as_raw(), path, has_access_list(path))
}

/// Returns the directory in `HOME`, which need not exist. `None` if `HOME` has no absolute path.
///
/// # Errors
///
/// Returns an error if the directory belongs to another user, as it may after sudo.
pub(crate) fn home() -> Result<Option<PathBuf>, Exposure> {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let found = home.as_ref().and_then(|home| home.metadata().ok());
    if let (Some(home), Some(found)) = (&home, found) {
        Evidence::new(Kind::Link, &found).check(geteuid().as_raw(), home, false)?;
    }
    Ok(home)
}

/// Returns the components of a path, without the root.
fn names(path: &Path) -> VecDeque<OsString> {
    let name = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(name).collect()
}

/// Returns whether a file has an access control list (acl(5)).
#[cfg(all(target_os = "linux", not(rove_portable)))]
fn has_access_list(path: &Path) -> bool {
    let mut list = [0_u8; 0];
    matches!(rustix::fs::getxattr(path, "system.posix_acl_access", &mut list), Ok(len) if len > 0)
}

#[cfg(any(rove_portable, not(target_os = "linux")))]
const fn has_access_list(_path: &Path) -> bool {
    false
}

/// Returns whether the owner is the only member of a group. Debian and Fedora make such a group for each user. With
/// umask 002, the group may write the user's files.
fn is_private_group(owner: u32, group: u32) -> bool {
    let text =
        |file: &str| String::from_utf8_lossy(&std::fs::read(file).unwrap_or_default()).into_owned();
    let mut users = text("/etc/passwd");
    let mut groups = text("/etc/group");
    // The users and groups of a directory service are not in these files.
    if lines(&users).all(|fields| number(&fields, 2) != Some(owner)) {
        users += &getent::lookup("passwd", &owner.to_string()).unwrap_or_default();
    }
    if lines(&groups).all(|fields| number(&fields, 2) != Some(group)) {
        groups += &getent::lookup("group", &group.to_string()).unwrap_or_default();
    }
    is_private(&users, &groups, owner, group)
}

/// Returns whether the group is the primary group of `owner` and of nobody else, has the owner's name, and has no other
/// member. `users` and `groups` have lines of passwd(5) and group(5).
fn is_private(users: &str, groups: &str, owner: u32, group: u32) -> bool {
    let Some(user) = lines(users).find(|fields| number(fields, 2) == Some(owner)) else {
        return false;
    };
    let name = user[0];
    let is_first = number(&user, 3) == Some(group);
    let others = lines(users)
        .any(|fields| number(&fields, 3) == Some(group) && number(&fields, 2) != Some(owner));
    let mut found = lines(groups).filter(|fields| number(fields, 2) == Some(group)).peekable();
    let is_known = found.peek().is_some();
    let is_alone = found.all(|fields| {
        let mut members = fields.get(3).copied().unwrap_or_default().split(',');
        fields[0] == name && members.all(|member| member.is_empty() || member == name)
    });
    is_first && !others && is_known && is_alone
}

fn lines(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().map(|line| line.split(':').collect())
}

fn number(fields: &[&str], index: usize) -> Option<u32> {
    fields.get(index)?.parse().ok()
}

#[cfg(test)]
mod tests;
