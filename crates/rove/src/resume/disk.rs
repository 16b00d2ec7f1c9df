//! The operations on files that a record consists of, so that a test can end the process in each of them.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

pub(crate) trait Disk {
    /// Writes all of `bytes` at an offset.
    fn write(&mut self, file: &File, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Waits until what was written is on the disk.
    fn sync(&mut self, file: &File) -> io::Result<()>;
    /// Puts a file in the place of another.
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()>;
}

/// The disk of this computer.
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
