//! `rove-lab man`: the manual page of a command.

use rove_cli_docs::{Manual, Words, man};

use crate::cli::program::LABORATORY;

/// The help and manual page of `rove-lab man`.
pub(crate) static MANUAL: Manual = Manual {
    word: "man",
    definition: || man::definition("rove-lab man", "rove-lab man [COMMAND]"),
    words: Words::OurCommands,
    notes: &[
        "The page comes on standard output, for man or for a file in a directory where man looks.",
    ],
    examples: &[
        ("rove-lab man | man -l -", "read the page of rove-lab"),
        ("rove-lab man replay > rove-lab-replay.1", "write the page of rove-lab replay"),
    ],
    exit_status: &[("0", "The page is on standard output."), ("2", "There is no such command.")],
    ..Manual::of(&LABORATORY)
};
