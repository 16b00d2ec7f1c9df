//! `rove man`: prints the manual page of a command.

use rove_cli_docs::{Manual, Words, man};

use crate::program::ROVE;

pub(crate) static MANUAL: Manual = Manual {
    word: "man",
    definition: || man::definition("rove man", "rove man [COMMAND]"),
    words: Words::OurCommands,
    notes: &[
        "The page comes on standard output, for man or for a file in a directory where man looks.",
    ],
    examples: &[
        ("rove man | man -l -", "read the page of rove"),
        ("rove man demo > rove-demo.1", "write the page of rove demo"),
    ],
    exit_status: &[("0", "The page is on standard output."), ("255", "There is no such command.")],
    ..Manual::of(&ROVE)
};
