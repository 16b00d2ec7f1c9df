//! The folder of a test, which the tests of one file share by name only.

use std::path::PathBuf;
use std::{env, fs, process};

/// A folder of one test, gone with it.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("rove-lab-{name}-{}", process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
