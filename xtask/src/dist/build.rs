//! Builds a program that has no trace of the folders in which it was built.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::place::Place;
use super::product::{Product, ROVE};
use crate::commands;
use crate::workspace::entries;

/// Largest accepted `rove`, in bytes. Chosen: a copy over a slow link takes less than half a minute at 160 kB/s.
pub(super) const ROVE_BYTES_MAX: u64 = 4_600_000;

/// Builds a program, and returns its path.
///
/// # Errors
///
/// Returns an error when the program does not build, is too large, or is for Linux and not static.
pub(super) fn program(place: &Place, product: &Product) -> Result<PathBuf> {
    // Cargo splits the flags at U+001F, so that a flag may hold a space.
    let mut cargo = place.cargo();
    let target = &place.target;
    let mut flags = target.prepare(&mut cargo, &place.build_folder().join("linking"))?;
    flags.extend(
        (place.folders().iter())
            .map(|(folder, name)| format!("--remap-path-prefix={}={name}", folder.display())),
    );
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    cargo.args(["build", "--locked", "--target", &target.triple, "--bins"]);
    // Each package is built by itself. In a joint build, cargo would give shared crates the features of all packages.
    commands::run(cargo.args(["--profile", product.profile, "--package", product.package]))?;
    let program = place.program(product);
    let mut bytes =
        fs::read(&program).with_context(|| format!("cannot read {}", program.display()))?;
    if let Some(system) = target.elf_system() {
        bytes[7] = system;
        fs::write(&program, &bytes).context("cannot write the program")?;
    }
    // A program that is not static names its loader.
    let is_dynamic = holds(&bytes, b"/ld-linux") || holds(&bytes, b"/ld-musl");
    ensure!(!(target.is_static() && is_dynamic), "{} is dynamic", product.program);
    let len = bytes.len() as u64;
    let is_large = product.program == ROVE.program && len > ROVE_BYTES_MAX;
    ensure!(!is_large, "rove has {len} bytes, and may have {ROVE_BYTES_MAX}");
    Ok(program)
}

/// Checks that no file in a folder, at any depth, names the builder's folders.
///
/// # Errors
///
/// Returns an error that names the files.
pub(super) fn check_for_paths(place: &Place, folder: &Path) -> Result<()> {
    let folders: Vec<_> = place.folders().into_iter().map(|(folder, _)| folder).collect();
    let mut findings = Vec::new();
    for file in files(folder)?.into_iter().chain(files(&place.work())?) {
        let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        for named in named_folders(&bytes, &folders) {
            findings.push(format!("{} names {}", file.display(), named.display()));
        }
    }
    let findings = findings.join("; ");
    ensure!(findings.is_empty(), "a result tells where it was built: {findings}");
    Ok(())
}

/// Returns the folders of this list that the bytes name.
fn named_folders<'a>(bytes: &[u8], folders: &'a [PathBuf]) -> Vec<&'a PathBuf> {
    let is_named = |folder: &&PathBuf| {
        let name = format!("{}/", folder.display());
        holds(bytes, name.as_bytes())
    };
    folders.iter().filter(is_named).collect()
}

fn holds(bytes: &[u8], wanted: &[u8]) -> bool {
    let Some(first) = wanted.first() else { return true };
    let mut starts = bytes.iter().enumerate().filter(|(_, byte)| *byte == first);
    starts.any(|(at, _)| bytes[at..].starts_with(wanted))
}

/// Returns all files in a folder, at any depth.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in entries(folder)? {
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_names_the_builders_folders_is_found_out() {
        let folders = ["/home/me", "/srv/rove"].map(PathBuf::from);
        for (bytes, named) in [
            (&b"panicked at /home/me/.cargo/registry/x.rs"[..], &["/home/me"][..]),
            (b"/srv/rove/crates/home/me", &["/srv/rove"]),
            (b"\0/srv/rove/a\0/home/me/b", &["/home/me", "/srv/rove"]),
            (b"/srv/rover/ /home/men/", &[]),
            (b"/cargo/registry/x.rs", &[]),
            (b"", &[]),
        ] {
            let found = named_folders(bytes, &folders);
            let found: Vec<_> = found.iter().map(|it| it.display().to_string()).collect();
            assert_eq!(found, named, "{}", bytes.escape_ascii());
        }
    }
}
