//! Opens files that only the user may read or change.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use rustix::process::geteuid;

/// The mode bits that a private file must not have: all bits for other users, and execution.
const OTHERS: u32 = 0o177;

/// Opens a file without following a symbolic link or blocking on a pipe. A new file gets the mode 0600.
pub(crate) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    options.mode(0o600).custom_flags(flags.try_into().expect("flags of open")).open(path)
}

/// Returns a file's metadata. `None` if it is no regular file, is another user's, or has a mode bit of [`OTHERS`].
pub(crate) fn check(file: &File) -> io::Result<Option<Metadata>> {
    let found = file.metadata()?;
    let is_own = found.uid() == geteuid().as_raw() && found.mode() & OTHERS == 0;
    Ok((found.is_file() && is_own).then_some(found))
}

pub(crate) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
