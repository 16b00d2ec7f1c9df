//! Finds the folder of the workspace, and its files.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::commands;

/// Returns the folder of the workspace's Cargo.toml.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask lies in the workspace").to_owned()
}

/// Returns the folder that cargo builds in.
pub(crate) fn target(root: &Path) -> PathBuf {
    root.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Returns the files that git tracks, relative to the root.
pub(crate) fn tracked_files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(root);
    let list = commands::output(&mut git)?;
    Ok(list.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect())
}
