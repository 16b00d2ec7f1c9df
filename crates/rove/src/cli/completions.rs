//! `rove completions`: what a shell needs to complete rove's command lines, from what [`Manual`] says.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser};

use crate::cli::manual::{self, Manual, Suggested, Words};

mod bash;
mod fish;
mod zsh;

const SHELLS: &[&str] = &["bash", "zsh", "fish"];

/// What users are told of `rove completions`.
pub(crate) static MANUAL: Manual = Manual {
    word: "completions",
    definition: CompletionsArgs::command,
    words: Words::OneOf(SHELLS),
    notes: &[],
    examples: &[
        ("source <(rove completions bash)", "in ~/.bashrc"),
        ("source <(rove completions zsh)", "in ~/.zshrc, behind compinit"),
        ("rove completions fish | source", "in ~/.config/fish/config.fish"),
    ],
    environment: &[],
    files: &[],
    exit_status: &[("0", "The script is on standard output."), ("255", "The shell is not known.")],
};

/// Prints a script that lets a shell complete rove's commands, options, values and hosts
#[derive(Debug, Parser)]
#[command(name = "rove completions", override_usage = "rove completions bash|zsh|fish")]
struct CompletionsArgs {
    #[arg(value_name = "SHELL", value_parser = Suggested(SHELLS), hide = true)]
    shell: String,
}

/// A shell whose completion we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shell {
    /// bash, from 4.0.
    Bash,
    /// zsh, from 5.0.
    Zsh,
    /// fish, from 3.0.
    Fish,
}

impl Shell {
    fn from_name(name: &str) -> Option<Self> {
        match name {
            "bash" => Some(Self::Bash),
            "zsh" => Some(Self::Zsh),
            "fish" => Some(Self::Fish),
            _ => None,
        }
    }

    /// Returns the script for this shell.
    pub(crate) fn script(self) -> String {
        match self {
            Self::Bash => bash::script(),
            Self::Zsh => zsh::script(),
            Self::Fish => fish::script(),
        }
    }
}

/// Reads the words behind `completions`.
///
/// # Errors
///
/// Returns clap's error, which may be a request for help.
pub(crate) fn parse(args: Vec<OsString>) -> Result<Shell, clap::Error> {
    let args = CompletionsArgs::from_arg_matches(&manual::matches(&MANUAL, args)?)?;
    Shell::from_name(&args.shell).ok_or_else(|| {
        let message =
            format!("no completions for \"{}\": know {}\n", args.shell, SHELLS.join(", "));
        clap::Error::raw(clap::error::ErrorKind::InvalidValue, message)
    })
}

/// Returns the words by which commands are called, without the session's.
fn command_words() -> Vec<&'static str> {
    super::manuals().skip(1).map(|manual| manual.word).collect()
}

/// Returns the words that may stand where a command has a word of its own.
fn own_words(manual: &Manual) -> Vec<&'static str> {
    match manual.words {
        Words::OneOf(words) => words.to_vec(),
        Words::OurCommands => command_words(),
        Words::Unknown | Words::Command | Words::HostAndCommand => Vec::new(),
    }
}

/// Returns the spellings of a command's options that take a value.
fn valued_spellings(manual: &Manual) -> Vec<String> {
    let valued = manual.options().into_iter().filter(|option| option.value.is_some());
    valued.flat_map(|option| option.spellings()).collect()
}

/// Returns text in single quotes, for bash and zsh.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests;
