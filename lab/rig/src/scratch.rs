//! A folder of a run's own.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result};

/// A folder that nobody but its owner may look into, gone when it is dropped.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Creates an empty folder.
    ///
    /// # Errors
    ///
    /// Returns why the temporary folder takes none.
    pub fn new() -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("rove-live-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| format!("cannot create {}", path.display()))?;
        Ok(Self(path))
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a new file into the folder, likewise for its owner only, and returns its path.
    ///
    /// # Errors
    ///
    /// Returns why the file cannot be written.
    pub fn write(&self, name: &str, contents: &[u8]) -> Result<PathBuf> {
        let path = self.0.join(name);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        file.and_then(|mut file| file.write_all(contents))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_its_owner_may_look_into_a_scratch_folder() {
        let scratch = Scratch::new().expect("a folder");
        let file = scratch.write("part", b"password").expect("a file");
        let mode = |path: &Path| path.metadata().expect("it is there").permissions().mode() & 0o777;
        // A mask may take rights of the owner, too.
        assert_eq!((mode(scratch.path()) & !0o700, mode(&file) & !0o600), (0, 0));
        assert!(scratch.write("part", b"").is_err(), "no file is replaced");
    }
}
