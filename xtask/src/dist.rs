//! `cargo xtask dist`: builds a program, and files for its installation: an archive, a Debian package, a Homebrew
//! formula, a bill of materials, checksums. `--target` and `--all` are for other systems, `--lab` for the laboratory.
//!
//! With the same toolchain and sources, all files have the same bytes wherever they are built. `--twice` builds the
//! files in a second place and compares.

mod archive;
mod build;
mod deb;
mod formula;
mod notices;
mod place;
mod product;
mod sbom;
mod sizes;
mod stage;
mod target;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::commands;
use crate::needs::Needs;
use crate::workspace;
use place::Place;
use product::{LAB, Product, ROVE};
use target::Target;
pub(crate) use target::static_target;

/// The required programs that are not cargo's, each with its Debian package.
const PROGRAMS: [(&str, &str); 4] =
    [("git", "git"), ("tar", "tar"), ("gzip", "gzip"), ("sha256sum", "coreutils")];

/// The required programs of cargo, each with the version that packages the project.
const CARGO_PROGRAMS: [(&str, &str); 2] = [("cargo-deb", "3.8.0"), ("cargo-cyclonedx", "0.5.9")];

/// Options of `cargo xtask dist`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// First install everything that is missing: Debian packages, programs of cargo, zig, targets (also when CI=true).
    #[arg(long)]
    install: bool,
    /// Build for this system and processor, such as macos-aarch64 [default: static, for this computer].
    #[arg(long = "target", value_name = "NAME")]
    targets: Vec<String>,
    /// Build for every system that this computer has a linker for.
    #[arg(long, conflicts_with = "targets")]
    all: bool,
    /// Pack rove-lab, too.
    #[arg(long, conflicts_with_all = ["targets", "all"])]
    lab: bool,
    /// Build everything again in another place, and compare the files.
    #[arg(long)]
    twice: bool,
    /// Make a Homebrew formula, whose archives will be in the folder at this address.
    #[arg(long)]
    url: Option<String>,
    /// Print the sizes of the built files, and build nothing.
    #[arg(long)]
    sizes: bool,
    /// Checkout to build from, with its own target folder [default: this workspace].
    #[arg(long, value_name = "FOLDER")]
    sources: Option<PathBuf>,
}

/// Makes all files that the options ask for, in the folder `dist` of the target folder.
///
/// # Errors
///
/// Returns an error when a program is missing, something does not build, or a result names the builder's folders.
pub(crate) fn run(options: &Options) -> Result<()> {
    let root = match &options.sources {
        Some(folder) => fs::canonicalize(folder).context("there is no such folder")?,
        None => workspace::root(),
    };
    if options.sizes {
        return sizes::print(&Place::here(&root)?);
    }
    let targets = Target::choose(&options.targets, options.all)?;
    require(&targets, options.install)?;
    // After this fetch, nothing uses the network.
    commands::run(&mut commands::new("cargo", &["fetch", "--quiet", "--locked"], &root))?;
    let here = Place::here(&root)?;
    // The copy is made before the first build, so that an edit during the build makes no difference.
    let there = options.twice.then(|| Place::copy(&here)).transpose()?;
    let products: &[Product] = if options.lab { &[ROVE, LAB] } else { &[ROVE] };
    let sums = make(&here, products, &targets, options.url.as_deref())?;
    println!("{sums}");
    println!("in {}", here.dist().display());
    let Some(there) = there else { return Ok(()) };
    println!("== again in {}", there.root.display());
    let again = make(&there, products, &targets, options.url.as_deref())?;
    println!("{again}");
    ensure!(sums == again, "the two builds differ: see the checksums above");
    println!("the two builds are the same");
    there.remove()
}

/// Checks that all programs and targets are installed. Manual pages need a program built for this computer.
fn require(targets: &[Target], install: bool) -> Result<()> {
    let host = Target::host();
    let triples: Vec<_> = targets.iter().chain([&host]).map(|it| it.triple.as_str()).collect();
    let needs = Needs {
        programs: &PROGRAMS,
        cargo_programs: &CARGO_PROGRAMS,
        python_program: targets.iter().find_map(Target::python_program),
        targets: &triples,
    };
    needs.require("dist", install)
}

/// Makes the files of all products in a place. Returns their checksums.
fn make(
    place: &Place,
    products: &[Product],
    targets: &[Target],
    url: Option<&str>,
) -> Result<String> {
    let dist = place.dist();
    let _ = fs::remove_dir_all(&dist);
    fs::create_dir_all(&dist).with_context(|| format!("cannot create {}", dist.display()))?;
    let _ = fs::remove_dir_all(place.work());
    for product in products {
        println!("== {}: program for this computer", product.program);
        let speaker = build::program(&place.with_target(&Target::host()), product)?;
        for target in targets {
            pack(&place.with_target(target), product, &speaker)?;
        }
    }
    for target in targets {
        println!("== {}: bills of materials", target.name);
        sbom::make(&place.with_target(target), products)?;
    }
    match url {
        Some(url) => formula::make(place, &dist, url)?,
        None => println!("== no Homebrew formula: --url names no place for the archives"),
    }
    build::check_for_paths(place, &dist)?;
    checksums(&dist)
}

/// Makes an archive of a program and, for Linux, a Debian package. Copies rove to where `rove install` looks.
fn pack(place: &Place, product: &Product, speaker: &Path) -> Result<()> {
    let (name, target) = (product.program, &place.target);
    println!("== {name}: {}", target.name);
    let program = build::program(place, product)?;
    if name == ROVE.program {
        let copy = place.dist().join(format!("{name}-{}", target.name));
        fs::copy(&program, copy).context("cannot copy the program")?;
    }
    let tree = stage::make(place, product, &program, speaker)?;
    archive::make(place, &tree)?;
    if target.is_static() { deb::make(place, product, &tree) } else { Ok(()) }
}

/// Writes the checksums of all files in the folder, and returns them.
fn checksums(dist: &Path) -> Result<String> {
    let files = workspace::entries(dist)?.into_iter().filter(|path| path.is_file());
    let names: Vec<_> = files.filter_map(|path| Some(path.file_name()?.to_owned())).collect();
    let sums = commands::output(Command::new("sha256sum").args(&names).current_dir(dist))?;
    fs::write(dist.join("SHA256SUMS"), &sums)?;
    Ok(sums.trim_end().to_owned())
}
