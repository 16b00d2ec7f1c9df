//! The bill of materials of each program (CycloneDX): the crates it is built from, with versions, licences and
//! checksums.

use std::fs;

use anyhow::{Context, Result};

use super::place::Place;
use super::product::Product;
use crate::commands;

/// Makes the bills. cargo-cyclonedx writes beside the manifests, so it works on a copy of the sources.
///
/// # Errors
///
/// Returns an error when cargo-cyclonedx fails.
pub(super) fn make(place: &Place, products: &[Product]) -> Result<()> {
    let folder = place.work().join("sources");
    place.copy_sources(&folder)?;
    let mut cargo = place.cargo();
    cargo.args(["cyclonedx", "--quiet", "--format", "json", "--describe", "binaries"]);
    cargo.args(["--target", &place.target.triple, "--no-build-deps", "--spec-version", "1.5"]);
    commands::run(cargo.current_dir(&folder))?;
    for product in products {
        let program = product.program;
        let path = folder.join(product.folder).join(format!("{program}_bin.cdx.json"));
        let text =
            fs::read_to_string(&path).with_context(|| format!("there is no {}", path.display()))?;
        // The path of the copy means nothing to readers.
        let text = text.replace(&folder.display().to_string(), "/rove");
        let name = format!("{program}-{}-{}.cdx.json", place.version, place.target.name);
        fs::write(place.dist().join(name), text)?;
    }
    // Other files of the copy may still name its folder.
    fs::remove_dir_all(&folder).context("the copy of the sources cannot be removed")
}
