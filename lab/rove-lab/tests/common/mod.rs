//! The parts that tests of real processes share.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns a copy of the program in a folder that other users may read.
///
/// Another process writes it: a child that another test forks just then would inherit our descriptor, open for writing.
/// Until that child executes its program, the kernel would refuse to start the copy ("text file busy").
pub(crate) fn copy_of_program(folder: &Path) -> PathBuf {
    let copy = folder.join("rove-lab");
    let mut install = Command::new("install");
    let status = install.args(["-m", "755", env!("CARGO_BIN_EXE_rove-lab")]).arg(&copy).status();
    assert!(status.expect("coreutils are there").success(), "no copy at {}", copy.display());
    copy
}
