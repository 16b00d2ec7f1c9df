//! Files that nobody but their owner may read, and files that are there whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result};

/// Creates a file for what somebody types, passwords among it: nobody but its owner may read it, whatever the umask is. A file that is there already, with whatever
/// rights, is refused.
///
/// # Errors
///
/// Returns the system's refusal.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Writes a file so that it is there whole or not at all.
///
/// # Errors
///
/// Returns an error if it cannot be written.
pub(crate) fn write_whole(file: &Path, text: &str) -> Result<()> {
    let shown = file.display();
    let unfinished = file.with_extension("unfinished");
    fs::write(&unfinished, text)
        .and_then(|()| fs::rename(&unfinished, file))
        .with_context(|| format!("cannot write {shown}"))
}
