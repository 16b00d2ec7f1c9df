//! Whether somebody other than the user and root can change what is at a path.
//!
//! A file is as safe as the folders on the way to it: a user who may write a folder puts other files there. So [`way`]
//! looks at each of them, and at each symbolic link between them, from the home directory down, or from the root down
//! where the file lies elsewhere. A user who could change a folder above the home directory has the account anyway.
//!
//! A folder for everybody with the sticky bit, such as `/tmp`, protects the folders in it, which nobody else can rename.
//! A file, a link or a socket there is not protected: once it is removed, anybody may put another in its place.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use rustix::process::{Uid, geteuid};

use crate::getent;

/// Most symbolic links that are followed. Source: Linux's own limit, path_resolution(7).
const LINKS_MAX: usize = 40;
/// The bit by which only owners rename and remove what is in a folder.
const STICKY: u32 = 0o1000;
/// The bits by which a group, and everybody, may write.
const GROUP_WRITES: u32 = 0o020;
const WORLD_WRITES: u32 = 0o002;

/// A file, a folder or a link that somebody else can change.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Exposure {
    /// The thing at `path` belongs to another user, who may do anything with it.
    #[error("{path:?} belongs to user {owner}, who is neither you nor root")]
    Foreign { path: PathBuf, owner: u32 },
    /// Everybody may write the thing at `path`.
    #[error("everybody may write {path:?}")]
    World { path: PathBuf },
    /// A group that may have other members may write the thing at `path`.
    #[error("all members of group {group} may write {path:?}")]
    Group { path: PathBuf, group: u32 },
    /// The system does not tell who may change the thing at `path`.
    #[error("{path:?}: {error}")]
    Io { path: PathBuf, error: io::Error },
}

impl Exposure {
    /// Returns whether the only fault is that nothing is there.
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
    /// A folder in which a folder is used; `FolderWithOther`: in which something else is.
    FolderWithFolder,
    FolderWithOther,
    /// A symbolic link, whose mode says nothing.
    Link,
    /// A file that is read.
    File,
}

/// The facts by which a file, a folder or a link is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Evidence {
    kind: Kind,
    owner: u32,
    group: u32,
    mode: u32,
}

/// Why others can change a file, a folder or a link.
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

    /// Decides whether others than `user` and root can change the thing. `is_private` tells whether the owner alone is
    /// in its group.
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

    /// Decides for the user of this process. `has_list` tells whether the thing at `path` has an access list, by which
    /// the bits of the group hold for other users, too.
    fn check(self, path: &Path, has_list: bool) -> Result<(), Exposure> {
        let is_private = || !has_list && is_private_group(self.owner, self.group);
        let path = path.to_owned();
        self.judge(geteuid().as_raw(), is_private).map_err(|flaw| match flaw {
            Flaw::Foreign => Exposure::Foreign { path, owner: self.owner },
            Flaw::World => Exposure::World { path },
            Flaw::Group => Exposure::Group { path, group: self.group },
        })
    }
}

/// Checks each folder and link on the way to `path`; returns the path to which the way leads, free of links. Where the
/// way leads through `home`, the folders above `home` are not checked.
///
/// # Errors
///
/// Returns the first folder or link on the way that somebody else can change. If nothing is at `path`, and nobody else
/// can put anything there: an error of which [`Exposure::is_absence`] is true.
pub(crate) fn way(path: &Path, home: Option<&Path>) -> Result<PathBuf, Exposure> {
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
            Evidence::new(kind, &folder).check(&at, has_access_list(&at))?;
        }
        let found = found.map_err(failed(&entry))?;
        if !found.is_symlink() {
            at = entry;
            continue;
        }
        Evidence::new(Kind::Link, &found).check(&entry, false)?;
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

/// Checks an open file. `path` is the one that [`way`] has returned, and `found` are the file's facts.
///
/// # Errors
///
/// Returns why somebody else can change what is in it.
pub(crate) fn file(path: &Path, found: &std::fs::Metadata) -> Result<(), Exposure> {
    // Nobody reads from a device what others write to it, as everybody may to /dev/null.
    let kind = if found.file_type().is_char_device() { Kind::Link } else { Kind::File };
    Evidence::new(kind, found).check(path, has_access_list(path))
}

/// Returns the home directory of the environment, if it belongs to the user or to root.
///
/// # Errors
///
/// Returns that the directory is another user's, as it may be after sudo.
pub(crate) fn home() -> Result<Option<PathBuf>, Exposure> {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let found = home.as_ref().and_then(|home| home.metadata().ok());
    if let (Some(home), Some(found)) = (&home, found) {
        Evidence::new(Kind::Link, &found).check(home, false)?;
    }
    Ok(home)
}

/// Returns the names of a path from its root or its beginning.
fn names(path: &Path) -> VecDeque<OsString> {
    let name = |component: Component<'_>| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(name).collect()
}

/// Returns whether a file has an access list (acl(5)). A file system without them says that it has none.
#[cfg(all(target_os = "linux", not(rove_portable)))]
fn has_access_list(path: &Path) -> bool {
    let mut list = [0_u8; 0];
    matches!(rustix::fs::getxattr(path, "system.posix_acl_access", &mut list), Ok(len) if len > 0)
}

#[cfg(any(rove_portable, not(target_os = "linux")))]
const fn has_access_list(_path: &Path) -> bool {
    false
}

/// Returns whether a group is the owner's alone, as Debian and Fedora make one for each user. They let the group write
/// what a user creates (umask 002).
fn is_private_group(owner: u32, group: u32) -> bool {
    let text =
        |file: &str| String::from_utf8_lossy(&std::fs::read(file).unwrap_or_default()).into_owned();
    let mut users = text("/etc/passwd");
    let mut groups = text("/etc/group");
    // Users and groups of a directory are in no file.
    if lines(&users).all(|fields| number(&fields, 2) != Some(owner)) {
        users += &getent::lookup("passwd", &owner.to_string()).unwrap_or_default();
    }
    if lines(&groups).all(|fields| number(&fields, 2) != Some(group)) {
        groups += &getent::lookup("group", &group.to_string()).unwrap_or_default();
    }
    is_private(&users, &groups, owner, group)
}

/// Returns whether by these lines of passwd(5) and group(5) the group is the first one of its owner and of no other
/// user, has the owner's name, and has no other member.
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
