//! `cargo xtask dist`: a static program, and from it what people install: an archive, a Debian package, a bill of
//! materials, checksums. `--lab` makes the same of the laboratory.
//!
//! All of it is the same to the byte wherever it is built, by the same toolchain and from the same sources;
//! `--twice` builds it in a second place and compares.

mod archive;
mod build;
mod deb;
mod notices;
mod place;
mod product;
mod sbom;
mod stage;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::needs::Needs;
use crate::workspace;
use place::Place;
pub(crate) use place::static_target;
use product::{LAB, Product, ROVE};

/// Programs beside cargo's, and the Debian packages that bring them.
const PROGRAMS: [(&str, &str); 4] =
    [("git", "git"), ("tar", "tar"), ("gzip", "gzip"), ("sha256sum", "coreutils")];

/// cargo's own programs, with the version that the project is packaged by.
const CARGO_PROGRAMS: [(&str, &str); 2] = [("cargo-deb", "3.8.0"), ("cargo-cyclonedx", "0.5.9")];

/// Options of `cargo xtask dist`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Install everything first that is missing: Debian packages, cargo's programs, the static target (also when CI=true).
    #[arg(long)]
    install: bool,
    /// Pack rove-lab, too.
    #[arg(long)]
    lab: bool,
    /// Build all of it again in another place, and compare.
    #[arg(long)]
    twice: bool,
    /// Checkout to build from, with its own target folder [default: this workspace].
    #[arg(long, value_name = "FOLDER")]
    sources: Option<PathBuf>,
}

/// Makes everything, in the folder `dist` of the target folder.
///
/// # Errors
///
/// Returns an error when a program is missing, something does not build, or a result names the builder's folders.
pub(crate) fn run(options: &Options) -> Result<()> {
    let target = static_target();
    let needs = Needs { programs: &PROGRAMS, cargo_programs: &CARGO_PROGRAMS, targets: &[&target] };
    needs.require("dist", options.install)?;
    let root = match &options.sources {
        Some(folder) => fs::canonicalize(folder).context("there is no such folder")?,
        None => workspace::root(),
    };
    // All that follows is without a network, and this program is built from few crates of others.
    run_command(Command::new("cargo").args(["fetch", "--quiet", "--locked"]).current_dir(&root))?;
    let here = Place::here(&root)?;
    // Before the first build, so that an edit in between makes no difference.
    let there = options.twice.then(|| Place::copy(&here)).transpose()?;
    let products: &[Product] = if options.lab { &[ROVE, LAB] } else { &[ROVE] };
    let sums = make(&here, products)?;
    println!("{sums}");
    println!("in {}", here.dist().display());
    let Some(there) = there else { return Ok(()) };
    println!("== again in {}", there.root().display());
    let again = make(&there, products)?;
    println!("{again}");
    ensure!(sums == again, "the two builds differ: see the checksums above");
    println!("the two builds are the same");
    there.remove()
}

/// Makes everything in a place; returns the checksums.
fn make(place: &Place, products: &[Product]) -> Result<String> {
    let dist = place.dist();
    let _ = fs::remove_dir_all(&dist);
    fs::create_dir_all(&dist).with_context(|| format!("cannot create {}", dist.display()))?;
    let _ = fs::remove_dir_all(place.work());
    for product in products {
        let name = product.program;
        println!("== {name}: static program for {}", place.target());
        let program = build::program(place, product)?;
        println!("== {name}: man pages, completions, licences");
        let tree = stage::make(place, product, &program)?;
        archive::make(place, &tree)?;
        println!("== {name}: Debian package");
        deb::make(place, product, &tree)?;
    }
    println!("== bills of materials");
    sbom::make(place, products)?;
    build::check_for_paths(place, &dist)?;
    checksums(&dist)
}

/// Writes the checksums of all files of the folder.
fn checksums(dist: &Path) -> Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dist)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            names.push(entry.file_name());
        }
    }
    names.sort();
    let sums = output(Command::new("sha256sum").args(&names).current_dir(dist))?;
    fs::write(dist.join("SHA256SUMS"), &sums)?;
    Ok(sums.trim_end().to_owned())
}

/// Runs a command to its end.
fn run_command(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("{program} did not start"))?;
    ensure!(status.success(), "{program} failed: {status}");
    Ok(())
}

/// Runs a command to its end and returns what it prints.
fn output(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("{program} did not start"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program} failed: {}\n{errors}", output.status);
    String::from_utf8(output.stdout).with_context(|| format!("{program} printed no text"))
}
