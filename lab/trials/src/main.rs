//! `cargo xtask sim` and `cargo xtask bench`: whole sessions of rove, simulated by the thousand and measured beside others.
//!
//! This is a program of its own so that the other commands of xtask do without the laboratory that it measures with.
//!
//! # Modules
//!
//! - `sim` runs random sessions in virtual time. A `scenario` is drawn with `dice`, and `ends` run on a `machine` that has a
//!   clock of its own and sleeps.
//! - `bench` measures cost beside stock Mosh and others, with one file for each row. `programs` are the programs under
//!   measurement, `turns` lets the compared take turns, `pair` is two computers for logins, `rules` are rove's and Mosh's in
//!   virtual time, and `report` prints the table.

mod bench;
mod sim;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// rove's sessions, put to trial.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_version_flag = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run whole sessions in virtual time, all their circumstances drawn from seeds.
    Sim {
        /// How many sessions.
        #[arg(long, default_value_t = 1000)]
        seeds: u64,
        /// The first one's seed; the others follow it.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Measure rove beside stock Mosh, other emulators and a bare pty, and compare.
    Bench(bench::Options),
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Bench(options) => bench::run(&options),
        Command::Sim { seeds, seed } => simulate(seed, seeds),
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
