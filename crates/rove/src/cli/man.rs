//! `rove man`: prints the manual page of a command.

use rove_cli_docs::{Manual, Words, man};

use crate::program::ROVE;

pub(crate) static MANUAL: Manual = Manual {
    word: "man",
    definition: || man::definition("rove man", "rove man [COMMAND]"),
    words: Words::OurCommands,
    text: include_str!("../../manuals/man.toml"),
    ..Manual::of(&ROVE)
};
