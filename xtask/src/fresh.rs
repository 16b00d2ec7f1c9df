//! `cargo xtask fresh`: the gate in a new Debian root that holds only Rust and a C linker.
//!
//! Programs installed on a developer's computer can hide that tests need them. `mmdebstrap` makes the root. The
//! toolchain and the fetched crates come from this computer, the sources from a clone of the last commit. `aarch64`
//! makes a root for another processor and runs tests there.

mod aarch64;
mod options;
mod root;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

pub(crate) use self::options::Options;
use self::root::{ENTER, copy, make_root};
use crate::needs::Needs;
use crate::{commands, packages, systems, workspace};

/// The programs that make the root, and their Debian packages.
const PROGRAMS: [(&str, &str); 3] =
    [("mmdebstrap", "mmdebstrap"), ("git", "git"), ("unshare", "util-linux")];

/// The packages beside Debian's essential ones: a C linker with its headers, and certificates for fetching crates.
const PACKAGES: &str = "gcc,libc6-dev,ca-certificates";

/// The paths of the toolchain and of the sources in the root.
const TOOLCHAIN: &str = "opt/rust";
const SOURCES: &str = "srv/rove";

/// Makes a minimal root and runs the gate, or the given command, in a clone of the last commit there.
///
/// # Errors
///
/// Returns an error when the caller is not root, a program is missing, the root cannot be made, or the command fails.
pub(crate) fn run(options: &Options) -> Result<()> {
    // The root has this toolchain, but no rustup that could add targets to it.
    let targets = if options.target.is_some() { Vec::new() } else { systems::targets() };
    let needs = Needs { programs: &PROGRAMS, targets: &targets, ..Needs::default() };
    needs.require("fresh", options.install)?;
    let is_root = rustix::process::geteuid().is_root();
    ensure!(is_root, "a new root needs mounts, which only root may do: run it with sudo");
    let kept = options.keep.clone();
    let folder = kept.unwrap_or_else(|| workspace::root().join("target/fresh"));
    let is_reused = options.target.is_some() && options.keep.is_some();
    ensure!(
        is_reused || !folder.exists(),
        "{} is there already: remove it, or name another folder with --keep",
        folder.display()
    );
    let result = match options.target {
        Some(_) => aarch64::run(&folder, options),
        None => own_root(&folder, &options.suite).and_then(|()| enter(&folder, options)),
    };
    if options.keep.is_none() && folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    result
}

/// Makes a root for this processor, with the sources and with the settings by which cargo fetches crates.
fn own_root(folder: &Path, suite: &str) -> Result<()> {
    make_root(folder, suite, PACKAGES, &[], |mut command| commands::run(&mut command))?;
    // The root gets this computer's fetched crates, and its settings for the registry.
    let cargo_home =
        packages::cargo_home().context("HOME is not set, so cargo's folder is not known")?;
    for part in ["config.toml", "registry/index", "registry/cache"] {
        copy(&cargo_home.join(part), &folder.join("root/.cargo").join(part))?;
    }
    clone_sources(&folder.join(SOURCES))
}

fn clone_sources(target: &Path) -> Result<()> {
    let root = workspace::root();
    let mut status = commands::new("git", &["status", "--porcelain"], &root);
    if !commands::output(&mut status)?.is_empty() {
        println!("   what is not committed is left out");
    }
    commands::run(Command::new("git").args(["clone", "--quiet"]).arg(&root).arg(target))
}

fn enter(folder: &Path, options: &Options) -> Result<()> {
    let default = ["cargo", "xtask", "test", "--install"].map(String::from);
    let command = if options.command.is_empty() { &default } else { options.command.as_slice() };
    println!("== {}", command.join(" "));
    commands::run(
        Command::new("unshare")
            .args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "sh"])
            .args([folder, &sysroot()?, &Path::new("/").join(TOOLCHAIN)])
            .args([&Path::new("/").join(SOURCES)])
            .arg(options.tmp())
            .args(command),
    )
}

/// Returns the folder of the toolchain that builds this workspace.
fn sysroot() -> Result<PathBuf> {
    let mut rustc = commands::new("rustc", &["--print", "sysroot"], &workspace::root());
    Ok(PathBuf::from(commands::output(&mut rustc)?.trim_end()))
}
