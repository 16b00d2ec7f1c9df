//! A temporary folder of a run or a test.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::ops::Deref;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result};

/// A folder that only its owner can read. Dropping this value deletes the folder.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Creates an empty folder for a test.
    ///
    /// # Panics
    ///
    /// Panics if the folder cannot be created.
    #[expect(clippy::new_without_default, reason = "a folder is no default")]
    pub fn new() -> Self {
        Self::create().expect("the temporary folder takes a folder")
    }

    /// Creates an empty folder.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be created.
    pub fn create() -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // On macOS, the path of the temporary folder contains a link.
        let parent = std::env::temp_dir();
        let parent = parent.canonicalize().unwrap_or(parent);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("rove-rig-{}-{number}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                // A killed process with the same pid may have left such a folder, or a process in another container.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(error).with_context(|| format!("cannot create {}", path.display()));
                }
            }
        }
    }

    /// Returns the folder's path.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Returns the path of the file `name` in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a new file that only its owner can read. Returns its path.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written or exists already.
    pub fn keep(&self, name: &str, contents: &[u8]) -> Result<PathBuf> {
        let path = self.path(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        file.and_then(|mut file| file.write_all(contents))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    /// Writes a test's file, and creates the folders above it. Returns its path.
    pub fn write(&self, name: &str, contents: &str) -> PathBuf {
        let path = self.way_to(name);
        fs::write(&path, contents).expect("the scratch folder takes files");
        path
    }

    /// Writes a test's executable script. Returns its path.
    pub fn script(&self, name: &str, text: &str) -> PathBuf {
        let path = self.way_to(name);
        install_script(&path, text);
        path
    }

    /// Creates the folders above a file. Returns the file's path.
    fn way_to(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        let parent = path.parent().expect("a file is in a folder");
        fs::create_dir_all(parent).expect("the scratch folder takes folders");
        path
    }

    /// Returns the text of a file that a test's program may have written. A missing file has the text "".
    pub fn read(&self, name: &str) -> String {
        let bytes = fs::read(self.path(name)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Deref for Scratch {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Writes a test's executable script.
///
/// Another process writes the file. If this process did, a child that another thread forks would inherit the open
/// descriptor. The system executes no file that a process has open for writing.
pub fn install_script(path: &Path, text: &str) {
    let status = Command::new("/bin/sh")
        .args(["-c", "printf %s \"$1\" >\"$2\" && chmod 755 \"$2\"", "sh", text])
        .arg(path)
        .status()
        .expect("every system has a shell");
    assert!(status.success(), "{} can be written", path.display());
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_its_owner_may_look_into_a_scratch_folder() {
        let scratch = Scratch::new();
        let file = scratch.keep("part", b"password").expect("a file");
        let mode = |path: &Path| path.metadata().expect("it is there").permissions().mode() & 0o777;
        // A umask may also remove rights of the owner.
        assert_eq!((mode(&scratch) & !0o700, mode(&file) & !0o600), (0, 0));
        assert!(scratch.keep("part", b"").is_err(), "no file is replaced");
    }
}
