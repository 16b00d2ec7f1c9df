//! `rove help` and `rove version`: what `--help` and `--version` say, for who asks by a word.

use clap::{Arg, Command};
use rove_manual::{Manual, Words};

use crate::cli::BOOK;

/// The manual of `rove help`.
pub(crate) static HELP: Manual = Manual {
    book: &BOOK,
    word: "help",
    definition: || {
        Command::new("rove help")
            .about("Prints the help of rove, or of one of its commands")
            .override_usage("rove help [COMMAND]")
            .arg(Arg::new("command").hide(true))
    },
    words: Words::OurCommands,
    notes: &[],
    lists: &[],
    examples: &[("rove help doctor", "as rove doctor --help")],
    environment: &[],
    files: &[],
    exit_status: &[("0", "The help is on standard output."), ("255", "There is no such command.")],
};

/// The manual of `rove version`.
pub(crate) static VERSION: Manual = Manual {
    book: &BOOK,
    word: "version",
    definition: || {
        Command::new("rove version").about("Prints the version").override_usage("rove version")
    },
    words: Words::Unknown,
    notes: &[],
    lists: &[],
    examples: &[("rove version", "as rove --version")],
    environment: &[],
    files: &[],
    exit_status: &[
        ("0", "The version is on standard output."),
        ("255", "The command line is wrong."),
    ],
};
