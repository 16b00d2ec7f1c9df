//! The Debian package, by cargo-deb from the tree of files. The manifest of the program's crate places the files.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::place::Place;
use super::product::Product;
use crate::commands;

/// The maintainer that the package names.
const MAINTAINER: &str = "The rove contributors <rove@example.org>";

/// Makes the package.
///
/// # Errors
///
/// Returns an error when cargo-deb fails.
pub(super) fn make(place: &Place, product: &Product, tree: &Path) -> Result<()> {
    // The manifest names this folder, so its path must have neither version nor processor.
    let stage = place.root.join("target/dist-deb");
    let _ = fs::remove_dir_all(&stage);
    fs::create_dir_all(stage.parent().context("a folder in the target folder")?)?;
    commands::run(Command::new("cp").arg("-r").arg(tree).arg(&stage))?;
    let date = format!("@{}", place.epoch);
    let date =
        commands::output(Command::new("date").args(["--utc", "--rfc-email", "--date", &date]))?;
    let changelog = format!(
        "{} ({}) unstable; urgency=medium\n\n  * See CHANGELOG.md.gz for what has changed.\n\n -- {MAINTAINER}  {}\n",
        product.program,
        place.version,
        date.trim()
    );
    fs::write(stage.join("changelog"), changelog)?;
    let mut cargo = place.cargo();
    cargo.args(["deb", "--quiet", "--no-build", "--no-strip", "--no-dbgsym"]);
    cargo.args(["--package", product.package, "--target", &place.target.triple]);
    cargo.args(["--maintainer", MAINTAINER]);
    // The package has no Debian revision, because the authors of the program make the package themselves.
    commands::run(cargo.args(["--deb-revision", "", "--output"]).arg(place.dist()))?;
    fs::remove_dir_all(&stage).context("the tree of the package cannot be removed")
}
