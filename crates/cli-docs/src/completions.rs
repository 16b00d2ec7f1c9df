//! Scripts by which a shell completes a program's command lines, made from its [`Manual`]s.

use std::ffi::OsString;

use clap::{Arg, Command};

use crate::manual::{Book, Manual, Suggested, Words, matches};

mod bash;
mod fish;
mod zsh;

/// The shells whose completion we know, by name.
pub const SHELLS: &[&str] = &["bash", "zsh", "fish"];

/// A shell whose completion we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shell {
    /// bash, from 4.0.
    Bash,
    /// zsh, from 5.0.
    Zsh,
    /// fish, from 3.0.
    Fish,
}

impl Shell {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "bash" => Some(Self::Bash),
            "zsh" => Some(Self::Zsh),
            "fish" => Some(Self::Fish),
            _ => None,
        }
    }

    /// Returns the script for this shell that completes the program's command lines.
    pub fn script(self, book: &Book) -> String {
        match self {
            Self::Bash => bash::script(book),
            Self::Zsh => zsh::script(book),
            Self::Fish => fish::script(book),
        }
    }
}

/// Returns the definition of a `completions` command that is called by these words; [`parse`] reads what
/// follows them.
pub fn definition(called: &'static str, about: &'static str, usage: &'static str) -> Command {
    let shell = Arg::new("shell").value_name("SHELL").value_parser(Suggested(SHELLS));
    Command::new(called).about(about).override_usage(usage).arg(shell.required(true).hide(true))
}

/// Reads the words behind `completions`.
///
/// # Errors
///
/// Returns clap's error, which may be a request for help.
pub fn parse(own: &Manual, args: Vec<OsString>) -> Result<Shell, clap::Error> {
    let matches = matches(own, args)?;
    let name = matches.get_one::<String>("shell").map_or("", String::as_str);
    Shell::from_name(name).ok_or_else(|| {
        let name = name.escape_debug();
        let message = format!("no completions for \"{name}\": know {}\n", SHELLS.join(", "));
        clap::Error::raw(clap::error::ErrorKind::InvalidValue, message)
    })
}

/// Returns the words that may stand where a command has a word of its own.
fn own_words(book: &Book, manual: &Manual) -> Vec<&'static str> {
    match manual.words {
        Words::OneOf(words) | Words::OneOfThenHost(words, _) => words.to_vec(),
        Words::OurCommands => book.command_words(),
        Words::Unknown
        | Words::Command
        | Words::Host
        | Words::HostAndCommand
        | Words::HostThenSessions => Vec::new(),
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

/// Returns whether any command takes sessions.
fn takes_sessions(book: &Book) -> bool {
    (book.manuals)().iter().any(|manual| manual.words == Words::HostThenSessions)
}

/// Returns whether any command takes the name of a host.
fn takes_hosts(book: &Book) -> bool {
    let takes = |words| {
        matches!(
            words,
            Words::Host
                | Words::HostAndCommand
                | Words::HostThenSessions
                | Words::OneOfThenHost(..)
        )
    };
    (book.manuals)().iter().any(|manual| takes(manual.words))
}
