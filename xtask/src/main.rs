//! The workspace's own commands: `cargo xtask test` is the one gate, the others are its parts.

mod bench;
mod dist;
mod fresh;
mod gate;
mod limits;
mod needs;
mod packages;
mod sim;
mod tidy;

use std::process::ExitCode;

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
    /// Run everything a change must pass: fmt, clippy, tidy, docs, deny, wasm, tests, simulation.
    Test {
        /// Install everything first that is missing: Debian packages, cargo-deny, targets (also when CI=true).
        #[arg(long)]
        install: bool,
        /// Run the end-to-end tests alone, on a static release such as `cargo xtask dist` builds.
        #[arg(long = "static")]
        on_static: bool,
    },
    /// Run the gate in a new minimal Debian root, which shows what it needs beside Rust and a C linker.
    Fresh(fresh::Options),
    /// Check the habits that no other tool checks.
    Tidy,
    /// Run whole sessions in virtual time, all their circumstances drawn from seeds.
    Sim {
        /// How many sessions.
        #[arg(long, default_value_t = 1000)]
        seeds: u64,
        /// The first one's seed; the others follow it.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Write the table of all limits anew from the constants.
    Limits,
    /// Build static programs, and from them an archive, a Debian package, a bill of materials, checksums.
    Dist(dist::Options),
    /// Measure rove beside stock Mosh, other emulators and a bare pty, and compare.
    Bench(bench::Options),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Test { install, on_static: true } => gate::run_static(install),
        Command::Test { install, on_static: false } => gate::run(install),
        Command::Fresh(options) => fresh::run(&options),
        Command::Dist(options) => dist::run(&options),
        Command::Bench(options) => bench::run(&options),
        Command::Sim { seeds, seed } => simulate(seed, seeds),
        Command::Limits => limits::write(&workspace_root()),
        Command::Tidy => tidy::run(&workspace_root()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn simulate(first_seed: u64, seeds: u64) -> anyhow::Result<()> {
    let report = sim::run(first_seed, seeds)?;
    println!(
        "{} sessions, {} h of virtual time, {} bytes typed: all arrived once, all ends agreed",
        report.seeds,
        report.virtual_time.as_secs() / 3600,
        report.keys
    );
    Ok(())
}

/// Returns the folder of the workspace's Cargo.toml.
fn workspace_root() -> std::path::PathBuf {
    let xtask = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask lies in the workspace").to_owned()
}
