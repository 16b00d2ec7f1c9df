//! The file operations by which a record is written. A test can replace them, to simulate a crash in each operation.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

pub(crate) trait Disk {
    /// Writes all of `bytes` at an offset of the file.
    fn write(&mut self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Waits until written bytes are on the disk.
    fn sync(&mut self, file: &File) -> io::Result<()>;
    /// Renames the file `from` to `to`, in place of an existing file.
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()>;
}

/// The real file operations.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct System;

impl Disk for System {
    fn write(&mut self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
        file.write_all_at(bytes, offset)
    }

    fn sync(&mut self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }
}
