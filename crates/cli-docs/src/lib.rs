//! The user documentation of a program. A [`Manual`] describes a command and a [`Book`] all commands, and this crate
//! makes `--help`, completions and manual pages from them.
//!
//! # Modules
//!
//! - `manual` describes a command for its users. Its `texts` are in a TOML file.
//! - `completions` makes the completion scripts for bash, zsh and fish, and answers the scripts' questions.
//! - `man` makes manual pages.
//! - `refusal` makes the error messages about a command line.
//! - `integrity` checks the rules of a book, for the tests of the programs.

#![forbid(unsafe_code)]

pub mod completions;
mod integrity;
pub mod man;
mod manual;
mod refusal;
mod texts;

pub use integrity::assert_integrity;
pub use manual::{
    Book, Manual, OptionEntry, Program, Suggested, Suggestions, Value, Words, getopt_letters,
    matches,
};
pub use refusal::{
    near_option, nearest, refusal, sentence, unknown_command, unknown_option, usage_hint,
};
pub use texts::{Entries, List, Texts};
