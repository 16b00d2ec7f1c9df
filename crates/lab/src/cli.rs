//! The command line: which command was called, and the exit code it gives back.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::cli::record::RecordArgs;
use crate::cli::replay::ReplayArgs;
use crate::cli::screen::ScreenArgs;

mod record;
mod replay;
mod screen;

pub(crate) use screen::parse_size;

/// Exit code when something could not be read or written.
const FAILURE: u8 = 1;
/// Exit code of a command line that cannot be followed. Source: clap's own.
const USAGE: u8 = 2;

/// Examines rove's parts, one command each
#[derive(Debug, Parser)]
#[command(
    name = "rove-lab",
    version,
    after_help = "`rove-lab COMMAND --help` has examples and the exit codes of a command."
)]
struct Lab {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Record(RecordArgs),
    Replay(ReplayArgs),
    Screen(ScreenArgs),
}

/// Runs the command that `args` call: the first is the name of the program.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let code = match Lab::try_parse_from(args) {
        Ok(Lab { command: Command::Record(args) }) => run_record(args),
        Ok(Lab { command: Command::Replay(args) }) => run_replay(&args),
        Ok(Lab { command: Command::Screen(args) }) => run_screen(&args),
        Err(error) => {
            // Help and version come as errors too, for standard output.
            let is_wrong = error.use_stderr();
            let _ = error.print();
            if is_wrong { USAGE } else { 0 }
        }
    };
    ExitCode::from(code)
}

fn run_record(args: RecordArgs) -> u8 {
    let options = match args.options() {
        Ok(options) => options,
        Err(error) => {
            complain(&format!("{error:#}"));
            return USAGE;
        }
    };
    crate::record::run(options).unwrap_or_else(|error| {
        complain(&format!("{error:#}"));
        FAILURE
    })
}

fn run_screen(args: &ScreenArgs) -> u8 {
    let input = io::stdin().lock();
    if input.is_terminal() {
        complain(
            "standard input is a terminal, and what you type is no recording; redirect it, as in \
             `rove-lab screen --size 80x24 < recording`",
        );
        return USAGE;
    }
    report(crate::screen::run(args.options(), input, io::stdout().lock(), io::stderr()))
}

fn run_replay(args: &ReplayArgs) -> u8 {
    let result = args.options();
    report(result.and_then(|options| crate::replay::run(&options, io::stdout().lock())))
}

/// Says what went wrong, if something did; returns the exit code.
fn report(result: anyhow::Result<()>) -> u8 {
    match result {
        Ok(()) => 0,
        Err(error) => {
            complain(&format!("{error:#}"));
            FAILURE
        }
    }
}

/// Says what is wrong.
fn complain(sentence: &str) {
    // A reader that has gone away wants to hear nothing about it.
    let _ = writeln!(io::stderr(), "rove-lab: {sentence}");
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definitions_hold_together() {
        Lab::command().debug_assert();
    }
}
