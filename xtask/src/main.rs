//! The workspace's own commands: `cargo xtask test` is the one gate, the others are its parts.

mod gate;
mod packages;
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
        /// Install missing Debian packages first (also when CI=true).
        #[arg(long)]
        install: bool,
    },
    /// Check the habits that no other tool checks.
    Tidy,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Test { install } => gate::run(install),
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

/// Returns the folder of the workspace's Cargo.toml.
fn workspace_root() -> std::path::PathBuf {
    let xtask = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask lies in the workspace").to_owned()
}
