//! `rove-lab completions`: what a shell needs to complete the laboratory's command lines.

use clap::Command;
use rove_cli_docs::{Manual, Words, completions};

use crate::cli::program::LABORATORY;

/// The help and manual page of `rove-lab completions`.
pub(crate) static MANUAL: Manual = Manual {
    word: "completions",
    definition,
    words: Words::OneOf(completions::SHELLS),
    examples: &[
        ("source <(rove-lab completions bash)", "in ~/.bashrc"),
        ("source <(rove-lab completions zsh)", "in ~/.zshrc, behind compinit"),
        ("rove-lab completions fish | source", "in ~/.config/fish/config.fish"),
    ],
    exit_status: &[("0", "The script is on standard output."), ("2", "The shell is not known.")],
    ..Manual::of(&LABORATORY)
};

fn definition() -> Command {
    let about = "Prints a script that lets a shell complete the laboratory's commands and options";
    completions::definition("rove-lab completions", about, "rove-lab completions bash|zsh|fish")
}
