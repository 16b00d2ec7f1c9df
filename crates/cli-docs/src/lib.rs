//! The manual of a program's commands: `--help`, completions and manual pages are made from the same [`Manual`]s, which
//! a [`Book`] holds together.
//!
//! # Modules
//!
//! - `manual` describes a command for its users.
//! - `completions` answers a shell that completes a command line, and prints the scripts by which bash, zsh and fish ask.
//!   `man` prints the manual page.
//! - `refusal` has the sentences about a wrong command line.
//! - `integrity` checks the rules of each book, for the tests of the programs.

#![forbid(unsafe_code)]

pub mod completions;
mod integrity;
pub mod man;
mod manual;
mod refusal;

pub use integrity::assert_integrity;
pub use manual::{
    Book, Entries, Manual, OptionEntry, Program, Suggested, Suggestions, Value, Words,
    getopt_letters, matches,
};
pub use refusal::{
    near_option, nearest, refusal, sentence, unknown_command, unknown_option, usage_hint,
};
