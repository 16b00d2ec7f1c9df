//! Runs commands to their end. A command that does not start, or fails, is an error.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Returns a command that runs a program in a folder.
pub(crate) fn new(program: &str, arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    command
}

pub(crate) fn run(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("{program} did not start"))?;
    ensure!(status.success(), "{program} failed: {status}");
    Ok(())
}

/// Runs a command and returns what it prints, which must be text.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.output().with_context(|| format!("{program} did not start"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program} failed: {}\n{errors}", output.status);
    String::from_utf8(output.stdout).with_context(|| format!("{program} printed no text"))
}
