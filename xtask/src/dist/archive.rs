//! The archive: the tree of files, in a fixed order, with fixed times and owners.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::place::Place;
use crate::commands;

/// Packs the tree.
///
/// # Errors
///
/// Returns an error when tar or gzip fails.
pub(super) fn make(place: &Place, tree: &Path) -> Result<()> {
    let name = tree.file_name().context("the tree has a name")?;
    let folder = tree.parent().context("the tree lies in a folder")?;
    let archive = place.dist().join(name).with_added_extension("tar");
    commands::run(
        Command::new("tar")
            .args(["--create", "--format=ustar", "--sort=name", "--owner=0", "--group=0"])
            .args(["--numeric-owner", "--mode=u+rw,go+r-w,a+X"])
            .arg(format!("--mtime=@{}", place.epoch))
            .args([Path::new("--file"), &archive, Path::new("--directory"), folder])
            .arg(name),
    )?;
    commands::run(Command::new("gzip").args(["--best", "--no-name"]).arg(archive))
}
