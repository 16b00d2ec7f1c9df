//! Files that nobody but their owner may read, files that are there whole or not at all, and names of directories.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::builder::{OsStringValueParser, TypedValueParser};

/// Creates a file for what somebody types, passwords among it: nobody but its owner may read it, whatever the umask is. A file that is there already, with whatever
/// rights, is refused.
///
/// # Errors
///
/// Returns the system's refusal.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Writes a file so that it is there whole or not at all.
///
/// # Errors
///
/// Returns an error if it cannot be written.
pub fn write_whole(file: &Path, text: &str) -> Result<()> {
    let shown = file.display();
    let unfinished = file.with_extension("unfinished");
    fs::write(&unfinished, text)
        .and_then(|()| fs::rename(&unfinished, file))
        .with_context(|| format!("cannot write {shown}"))
}

/// Returns how clap reads the directory of an option that a variable of the environment may name: an empty name is none, as of a
/// variable that is empty.
pub fn directory() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// Returns a directory whose name is not empty.
pub fn named<D: AsRef<Path>>(directory: Option<D>) -> Option<D> {
    directory.filter(|directory| !directory.as_ref().as_os_str().is_empty())
}
