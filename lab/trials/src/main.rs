//! `cargo xtask sim` and `cargo xtask bench`: sessions of rove in simulations, and rove's cost compared with others.
//!
//! This is a separate program, so that xtask's other commands compile without the laboratory.
//!
//! # Modules
//!
//! - `sim` runs random sessions in virtual time. `dice` draw a `scenario`. Each of its `ends` runs on a `machine`,
//!   which has a clock of its own and sleeps.
//! - `bench` measures cost, compared with stock Mosh and others, with a file for each row. `programs` are the measured
//!   programs, `turns` lets them take turns, and `pair` has two computers for logins. `rules` runs rove's and Mosh's
//!   rules in virtual time, and `report` prints the table.

mod bench;
mod sim;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Sessions of rove, simulated and measured.
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
        /// Number of sessions.
        #[arg(long, default_value_t = 1000)]
        seeds: u64,
        /// The first session's seed. Each next session has the next number.
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
