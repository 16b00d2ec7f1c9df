//! Where the workspace is, and which files belong to it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

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
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("git did not start")?;
    let list = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
    Ok(list.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect())
}
