//! The sizes of what has been built, as a table.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::product::ROVE;
use super::target::Target;

/// Prints the sizes of the programs in a folder, and of their archives, in megabytes (10^6 bytes).
///
/// # Errors
///
/// Returns an error when there is no program.
pub(super) fn print(dist: &Path) -> Result<()> {
    let mut rows = Vec::new();
    for target in Target::all() {
        let program = format!("{}-{}", ROVE.program, target.name);
        let Ok(file) = fs::metadata(dist.join(&program)) else { continue };
        let end = format!("-{}.tar.gz", target.name);
        let archive = fs::read_dir(dist)?
            .filter_map(Result::ok)
            .find(|entry| entry.file_name().to_string_lossy().ends_with(&end))
            .with_context(|| format!("there is no archive of {program}"))?;
        rows.push((target.name, file.len(), archive.metadata()?.len()));
    }
    ensure!(!rows.is_empty(), "nothing has been built: run `cargo xtask dist --all --install`");
    println!("{:<16} {:>8} {:>8}", "", "program", "archive");
    for (name, program, archive) in rows {
        println!("{name:<16} {:>5} MB {:>5} MB", megabytes(program), megabytes(archive));
    }
    Ok(())
}

/// Returns a number of bytes in megabytes, rounded up so that no size is told too small.
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
