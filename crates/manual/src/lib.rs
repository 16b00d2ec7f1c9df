//! What users are told of a program's commands, once: `--help`, completions and manual pages all come from
//! the same [`Manual`]s, which a [`Book`] holds together.

#![forbid(unsafe_code)]

pub mod completions;
mod integrity;
pub mod man;
mod manual;
mod refusal;

pub use integrity::assert_integrity;
pub use manual::{
    Book, Entries, Manual, OptionEntry, Suggested, Suggestions, Value, Words, getopt_letters,
    matches,
};
pub use refusal::{
    near_option, nearest, refusal, sentence, unknown_command, unknown_option, usage_hint,
};
