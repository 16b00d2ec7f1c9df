//! Files that hold what somebody has typed, or may: passwords are among it.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Creates a file that nobody but its owner may read, whatever the umask is. A file that is there already, with whatever
/// rights, is refused.
///
/// # Errors
///
/// Returns the system's refusal.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}
