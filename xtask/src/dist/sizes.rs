//! The sizes of the built files, as a table.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::build::ROVE_BYTES_MAX;
use super::place::Place;
use super::product::{LAB, ROVE};
use super::target::Target;

/// Prints the sizes of the programs that were built in a place, and of their archives, in megabytes (10^6 bytes).
///
/// # Errors
///
/// Returns an error when there is no program.
pub(super) fn print(place: &Place) -> Result<()> {
    let dist = place.dist();
    let mut rows = String::new();
    for target in Target::all() {
        let program = format!("{}-{}", ROVE.program, target.name);
        let Some(bytes) = size(&dist.join(&program)) else { continue };
        let archive = format!("{}-{}-{}.tar.gz", ROVE.program, place.version, target.name);
        let archive =
            size(&dist.join(&archive)).with_context(|| format!("there is no archive {archive}"))?;
        let lab = size(&place.with_target(&target).program(&LAB));
        let (archive, lab) = (megabytes(archive), lab.map(megabytes));
        let lab = lab.unwrap_or_else(|| "-".to_owned());
        let verdict = if bytes > ROVE_BYTES_MAX { "MISSED" } else { "met" };
        let rove = megabytes(bytes);
        rows +=
            &format!("{:<16}{bytes:>9}{rove:>6}{archive:>9}{lab:>10}  {verdict}\n", target.name);
    }
    ensure!(!rows.is_empty(), "nothing has been built: run `cargo xtask dist --all --install`");
    let most = megabytes(ROVE_BYTES_MAX);
    println!(
        "{:<16}{:>9}{:>6}{:>9}{:>10}  rove <= {most} MB",
        "", "rove, B", "MB", "archive", "rove-lab"
    );
    print!("{rows}");
    Ok(())
}

fn size(file: &Path) -> Option<u64> {
    fs::metadata(file).ok().map(|file| file.len())
}

/// Returns a number of bytes in megabytes, rounded up so that no printed size is too small.
fn megabytes(bytes: u64) -> String {
    let hundredths = bytes.div_ceil(10_000);
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_rounded_up() {
        for (bytes, shown) in [(0, "0.00"), (1, "0.01"), (4_490_001, "4.50"), (12_340_000, "12.34")]
        {
            assert_eq!(megabytes(bytes), shown);
        }
    }
}
