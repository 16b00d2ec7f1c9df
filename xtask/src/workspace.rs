//! Finds the folder of the workspace, and its files.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::commands;

/// The texts of the workspace's files, by their paths from the root.
pub(crate) type Texts = BTreeMap<String, String>;

/// Returns the folder of the workspace's Cargo.toml.
pub(crate) fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask lies in the workspace").to_owned()
}

/// Returns the folder that cargo builds in.
pub(crate) fn target(root: &Path) -> PathBuf {
    root.join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Returns the paths of the entries of a folder, in the order of their names.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)
        .and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>());
    let mut paths = entries.with_context(|| format!("cannot read {}", folder.display()))?;
    paths.sort();
    Ok(paths)
}

/// Returns the files that git does not ignore, relative to the root.
pub(crate) fn tracked_files(root: &Path) -> Result<Vec<PathBuf>> {
    let words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let list = commands::output(&mut commands::new("git", &words, root))?;
    Ok(list.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from).collect())
}

/// Reads the files that git does not ignore, except files that the working tree lacks or that are not text.
pub(crate) fn texts(root: &Path) -> Result<Texts> {
    let read = |path: PathBuf| {
        let text = fs::read_to_string(root.join(&path)).ok()?;
        Some((path.into_os_string().into_string().ok()?, text))
    };
    Ok(tracked_files(root)?.into_iter().filter_map(read).collect())
}

/// Returns the text of a file.
pub(crate) fn text<'a>(texts: &'a Texts, path: &str) -> Result<&'a str> {
    texts.get(path).map(String::as_str).with_context(|| format!("cannot read {path}"))
}
