//! Reads and writes tables in files, in the published form and in the readable form.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use rove_congestion::remy::Table;
use rove_runs::files::write_whole;

/// Reads a table from a file, in the published form if its name ends in `.dna`, and else in the readable form.
///
/// # Errors
///
/// Returns an error if the file cannot be read, or contains no valid table.
pub(crate) fn read(file: &Path) -> Result<Table> {
    parse(file, &fs::read(file).with_context(|| format!("cannot read {}", file.display()))?)
}

/// Reads a table from the bytes of a file.
///
/// # Errors
///
/// Returns an error if the bytes are no valid table.
pub fn parse(file: &Path, bytes: &[u8]) -> Result<Table> {
    let shown = file.display();
    let table = if is_dna(file) {
        Table::from_dna(bytes)
    } else {
        let text = core::str::from_utf8(bytes);
        Table::from_readable(text.with_context(|| {
            format!("{shown} is no text; the name of a published table ends in .dna")
        })?)
    };
    table.with_context(|| format!("{shown} cannot be used"))
}

/// Writes a table to a file in the form of the name's ending, `.dna` or `.toml`.
///
/// # Errors
///
/// Returns an error if the file cannot be written, or if its name has another ending.
pub(crate) fn write(table: &Table, file: &Path) -> Result<()> {
    let shown = file.display();
    if is_dna(file) {
        return write_whole(file, &table.to_dna());
    }
    if file.extension().is_none_or(|ending| ending != "toml") {
        bail!(
            "{shown} ends neither in .dna nor in .toml, the forms that a table can be written in"
        );
    }
    write_whole(file, &table.to_readable())
}

fn is_dna(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "dna")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prior::Prior;

    #[test]
    fn every_table_that_we_bring_is_read_and_says_how_to_make_it_again_from_its_prior() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rove-lab/remy");
        let mut tables = 0;
        for entry in fs::read_dir(&folder).expect("the folder") {
            let file = entry.expect("an entry").path();
            let name = file.file_name().expect("a name").to_string_lossy().into_owned();
            let Some(prior) = name.strip_prefix("remy-") else {
                Prior::read(&file).expect("a prior");
                continue;
            };
            let table = read(&file).expect("a table");
            assert!(table.rules().len() > 1, "{name}");
            assert!(table.about.contains(&format!("remy train --prior {prior} ")), "{name}");
            assert!(Prior::read(&folder.join(prior)).is_ok(), "{name}");
            tables += 1;
        }
        assert_eq!(tables, 3);
    }
}
