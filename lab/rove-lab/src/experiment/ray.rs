//! Runs of a sweep on Ray: a script in Python spreads shards, and brings their results home.
//!
//! The results are those of runs on this computer: the program is the same file, and a run is known by everything that
//! decides it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use rove_platform::program::own_file;
use rove_runs::files::named;

use crate::experiment::FiguresOptions;

/// The script, which needs the Python package `ray`.
const SCRIPT: &str = include_str!("ray.py");

/// Does all runs, and appends them to the file `runs`.
///
/// # Errors
///
/// Returns an error if there is no Python or no Ray, or if a shard fails.
pub(crate) fn run(options: &FiguresOptions, runs: &Path) -> Result<()> {
    let program = own_file().context("cannot tell this program's own file")?;
    let mut command = Command::new("python3");
    command.args(["-c", SCRIPT]).arg(program).arg(runs);
    for name in &options.names {
        // Tasks run elsewhere: a file is found by its whole name.
        let whole = fs::canonicalize(name).ok().filter(|_| name.ends_with(".toml"));
        command.arg(whole.unwrap_or_else(|| name.into()));
    }
    if let Some(traces) = named(options.traces.as_ref()) {
        command.arg("--traces").arg(fs::canonicalize(traces).unwrap_or_else(|_| traces.clone()));
    }
    if let Some(tables) = named(options.tables.as_ref()) {
        command.arg("--tables").arg(fs::canonicalize(tables).unwrap_or_else(|_| tables.clone()));
    }
    if options.is_full {
        command.arg("--full");
    }
    command.args(["--seed", &options.seed.to_string()]);
    let status = command.status().context("cannot run python3, which --engine ray needs")?;
    if !status.success() {
        bail!("the runs on Ray have failed; without --engine ray they are done on this computer");
    }
    Ok(())
}
