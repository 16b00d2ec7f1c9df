//! The command line of `rove-lab remy`.

use clap::{Args, Command};
use rove_cli_docs::{Manual, Words};
use rove_remy::RemyOptions;

use crate::cli::program::{LABORATORY, exits};

/// The manual of `rove-lab remy`.
pub(crate) static MANUAL: Manual = Manual {
    word: "remy",
    definition: || RemyOptions::augment_args(Command::new("rove-lab remy")),
    words: Words::OneOf(&["describe", "convert", "evaluate", "train", "worker"]),
    notes: &[
        "A table is a congestion controller: for each combination of a few signals of a flow it says how the \
         window changes, and how far apart packets are sent. describe prints its rules, and with --out NAME.svg draws \
         them. With a prior it says which rules its networks use, what the table is worth with the most used alone, and how a flow \
         goes from rule to rule. convert writes it in another form: .dna is the published one, .toml the readable one. evaluate says \
         what tables are worth on the networks of a prior. train searches a table for a prior and an objective. worker \
         does parts of a search for an engine: tasks come in as lines of JSON, answers go out. `rove-lab figures remy` puts tables beside other controllers, on paths that several senders share.",
        "A prior is a file (TOML) of assumptions: the links, the round trips, how many senders, when they have \
         data. An objective says what a sender's throughput and delay are worth. Both are described in docs/lab.md.",
        "A search writes its table, and beside it a checkpoint, after every improvement. The same command goes \
         on from the checkpoint, and ends with the table of a search that was not interrupted.",
    ],
    examples: &[
        ("rove-lab remy describe table.dna --out table.svg", "rules, and a picture of them"),
        ("rove-lab remy describe table.dna --prior two-senders.toml", "and the used rules"),
        ("rove-lab remy convert table.dna --out table.toml", "the readable form"),
        ("rove-lab remy evaluate table.toml --prior two-senders.toml", "its score"),
        ("rove-lab remy train --prior two-senders.toml --out table.toml", "search a table"),
    ],
    files: &[("NAME.search.json", "The checkpoint of a search for the table NAME.toml.")],
    exit_status: &exits(
        "A table, a prior or a checkpoint could not be used, or a result not be written.",
    ),
    ..Manual::of(&LABORATORY)
};

/// The options that only some actions use, each with these actions.
pub(crate) const USES: [(&str, &str); 12] = [
    ("TABLE", "describe, convert, evaluate"),
    ("--prior", "describe, evaluate, train"),
    ("--objective", "describe, evaluate, train"),
    ("--out", "describe, convert, train"),
    ("--begin", "train"),
    ("--seed", "describe, evaluate, train"),
    ("--epochs", "train"),
    ("--steps", "train"),
    ("--minutes", "train"),
    ("--threads", "describe, evaluate, train"),
    ("--engine", "train"),
    ("--json", "evaluate"),
];
