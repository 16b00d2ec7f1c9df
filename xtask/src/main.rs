//! The workspace's own commands. `cargo xtask test` is the gate: it runs every check that a change must pass.
//!
//! # Modules
//!
//! - `gate` runs every check in order, and `failed_tests` names the tests that failed. `needs` finds and installs what a
//!   check requires. `packages` lists the Debian packages of tests. `systems` compiles for macOS, FreeBSD, Android and
//!   Windows. `portable` tests the branches of macOS and the BSDs on Linux. `wine` tests the program for Windows on Linux.
//! - `tidy` checks rules that no other tool checks. `limits` makes docs/limits.md from constants, and `reference` a
//!   page on the laboratory's files from types. `house` measures code and prose.
//! - `results` measures the tables of docs/results. `workspace` finds the files of the tree. `commands` runs programs.
//! - `fresh` runs the gate in a new Debian `root`, or tests in one for `aarch64`. Its `options` are words of the command line.
//! - `dist` builds a `product` for a `target`, and makes from it: `stage`, `archive`, `deb`, `formula`, `notices` and
//!   `sbom`. `sizes` prints how large they are.

mod commands;
mod dist;
mod failed_tests;
mod fresh;
mod gate;
mod house;
mod limits;
mod needs;
mod packages;
mod portable;
mod reference;
mod results;
mod systems;
mod tidy;
mod wine;
mod workspace;

use std::ffi::OsString;
use std::process::{self, ExitCode};

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

/// rove's workspace commands.
#[derive(Parser)]
#[command(name = "cargo xtask", disable_version_flag = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run everything a change must pass: fmt, clippy, tidy, docs, deny, tests, portable, simulation, systems.
    Test {
        /// First install everything that is missing: Debian packages, cargo-deny, targets (also when CI=true).
        #[arg(long)]
        install: bool,
        /// Run the end-to-end tests alone, on a static release such as `cargo xtask dist` builds.
        #[arg(long = "static")]
        on_static: bool,
        /// Run all tests with the branches that macOS and the BSDs take.
        #[arg(long, conflicts_with = "on_static")]
        portable: bool,
    },
    /// Run the gate in a new minimal Debian root, which shows what it needs beside Rust and a C linker; or tests for aarch64.
    Fresh(fresh::Options),
    /// Build the program for Windows, and test it on Linux under Wine.
    Wine {
        /// First install everything that is missing: Wine, the linker and the target (also when CI=true).
        #[arg(long)]
        install: bool,
    },
    /// Check the house rules that no other tool checks.
    Tidy,
    /// Print the figures of code and prose beside their limits in house.toml.
    House {
        /// Print JSON, with the place of each flaw that is counted.
        #[arg(long)]
        json: bool,
    },
    /// Write the table of all limits from the constants.
    Limits,
    /// Write the reference of the laboratory's files from the types.
    Reference,
    /// Measure the tables of docs/results again: all tables, or those with these names.
    Results { names: Vec<String> },
    /// Build a program for this or other systems, and from it an archive, packages, a bill of materials, checksums.
    Dist(dist::Options),
    /// Run whole sessions in virtual time, all their circumstances drawn from seeds.
    #[command(disable_help_flag = true)]
    Sim(Passed),
    /// Measure rove beside stock Mosh, other emulators and a bare pty, and compare.
    #[command(disable_help_flag = true)]
    Bench(Passed),
}

/// Command-line words for a program of the workspace that is compiled only when it is called.
#[derive(clap::Args)]
struct Passed {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Test { install, on_static: true, .. } => gate::run_static(install),
        Command::Test { install, portable: true, .. } => gate::run_portable(install),
        Command::Test { install, .. } => gate::run(install),
        Command::Wine { install } => wine::run(install),
        Command::Fresh(options) => fresh::run(&options),
        Command::Dist(options) => dist::run(&options),
        Command::Bench(passed) => trials("bench", &passed),
        Command::Sim(passed) => trials("sim", &passed),
        Command::House { json } => {
            workspace::texts(&workspace::root()).and_then(|texts| house::run(&texts, json))
        }
        Command::Limits => limits::write(&workspace::root()),
        Command::Reference => reference::write(&workspace::root()),
        Command::Tidy => tidy::run(&workspace::root()),
        Command::Results { names } => results::write(&workspace::root(), &names),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a command of rove-trials, which needs the whole laboratory, and exits with its exit code.
fn trials(command: &str, passed: &Passed) -> Result<()> {
    let mut cargo = process::Command::new("cargo");
    cargo.args(["run", "--quiet", "--locked", "--manifest-path"]);
    cargo.arg(workspace::root().join("Cargo.toml"));
    cargo.args(["--package", "rove-trials", "--", command]).args(&passed.words);
    let status = cargo.status().context("cargo did not start")?;
    process::exit(status.code().unwrap_or(1))
}
