//! `rove completions`: prints the script with which a shell completes rove's command lines.

use clap::Command;
use rove_cli_docs::{Manual, Words, completions};

use crate::program::ROVE;

pub(crate) static MANUAL: Manual = Manual {
    word: "completions",
    definition,
    words: Words::OneOf(completions::SHELLS),
    text: include_str!("../../manuals/completions.toml"),
    ..Manual::of(&ROVE)
};

fn definition() -> Command {
    let about =
        "Prints a script that lets a shell complete rove's commands, options, values and hosts";
    completions::definition("rove completions", about, "rove completions bash|zsh|fish")
}
