//! Files that only their owner may read, files that are written whole or not at all, and directories of options.

use std::borrow::Cow;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::builder::{OsStringValueParser, TypedValueParser};

/// Creates a file for typed text, which may include passwords: only its owner may read it, whatever the umask is. A
/// file that exists already, with whatever rights, is refused.
///
/// # Errors
///
/// Returns the I/O error if the file exists already or cannot be created.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Writes a file whole or not at all. A device or a pipe is written in place, perhaps only in part.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
pub fn write_whole<T: AsRef<[u8]> + ?Sized>(file: &Path, text: &T) -> Result<()> {
    let file = &*target(file);
    if is_no_file(file) {
        return fs::write(file, text).with_context(|| format!("cannot write {}", file.display()));
    }
    let unfinished = unfinished(file);
    let written = fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, file));
    if written.is_err() {
        // An incomplete file is of no use, and would take space on a full disk.
        let _ = fs::remove_file(&unfinished);
    }
    written.with_context(|| format!("cannot write {}", file.display()))
}

/// Checks that [`write_whole`] can write the file. Call this before long work, whose result would otherwise be lost.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
pub fn check_writable(file: &Path) -> Result<()> {
    ensure!(!file.is_dir(), "cannot write {}: it is a directory", file.display());
    let file = &*target(file);
    if is_no_file(file) {
        return Ok(());
    }
    let unfinished = unfinished(file);
    let written = fs::write(&unfinished, " ");
    let _ = fs::remove_file(&unfinished);
    written.with_context(|| format!("cannot write {}", file.display()))
}

/// Returns the file to which a link leads, unless the system made the link, such as /dev/stdout.
fn target(name: &Path) -> Cow<'_, Path> {
    let is_of_system = ["/dev", "/proc"].iter().any(|it| name.starts_with(it));
    match name.canonicalize() {
        Ok(file) if !is_of_system => Cow::Owned(file),
        _ => Cow::Borrowed(name),
    }
}

/// Returns whether a name belongs to a device, a pipe or a link, such as /dev/null, which no file may replace.
fn is_no_file(name: &Path) -> bool {
    name.symlink_metadata().is_ok_and(|it| !it.is_file() && !it.is_dir())
}

/// Returns the name that a file has while this process writes it.
fn unfinished(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!("{name}.{}.unfinished", std::process::id()))
}

/// Returns a parser for directories of options with an environment variable. It lets an empty name pass, because an
/// empty variable counts as none.
pub fn directory() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

/// Returns the directory, unless its name is empty.
pub fn named<D: AsRef<Path>>(directory: Option<D>) -> Option<D> {
    directory.filter(|directory| !directory.as_ref().as_os_str().is_empty())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_is_written_to_and_stays() {
        let folder = std::env::temp_dir().join(format!("rove-lab-pipe-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let pipe = folder.join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("coreutils are there").success());
        let from = pipe.clone();
        let reader = std::thread::spawn(move || fs::read_to_string(from).expect("text"));
        check_writable(&pipe).expect("it is a pipe");
        write_whole(&pipe, "new").expect("written");
        assert_eq!(reader.join().expect("no panic"), "new");
        assert!(!pipe.is_file(), "a file has taken its place");
        fs::remove_dir_all(&folder).expect("our own folder");
    }

    #[test]
    fn nothing_is_left_of_a_file_that_a_full_disk_refuses() {
        let folder = std::env::temp_dir().join(format!("rove-lab-files-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("figures.json");
        write_whole(&file, "old").expect("written");
        for refused in [check_writable, |file: &Path| write_whole(file, "new")] {
            // On Linux, every write to /dev/full fails because that device is full.
            let unfinished = unfinished(&file);
            std::os::unix::fs::symlink("/dev/full", &unfinished).expect("a link");
            let error = refused(&file).expect_err("the disk is full");
            assert!(error.to_string().contains("cannot write "), "{error}");
            assert!(unfinished.symlink_metadata().is_err(), "something is left");
        }
        assert_eq!(fs::read_to_string(&file).expect("a file"), "old");
        let other = unfinished(&folder.join("figures.html"));
        assert_ne!(unfinished(&file), other, "each has its own");
        fs::remove_dir_all(&folder).expect("our own folder");
    }
}
