//! The command line of `rove-lab figures`.

use clap::{Args, Command};
use rove_cli_docs::Manual;

use crate::cli::program::LABORATORY;
use crate::experiment::FiguresOptions;

/// The manual of `rove-lab figures`.
pub(crate) static MANUAL: Manual = Manual {
    word: "figures",
    definition: || FiguresOptions::augment_args(Command::new("rove-lab figures")),
    notes: &[
        "Each figure is a scenario: what is measured, of which systems, over which links, with which \
         recordings, and what others have published of it. The client and the server are those that ship. In \
         most figures the network between them is simulated: the same seed gives the same figures. Those whose \
         names begin with programs are of ssh, stock Mosh and rove in real time; they need root or user \
         namespaces and those programs, and say what is missing. Other scenarios than \
         those that rove-lab brings are files (TOML), described in docs/lab.md.",
        "Recordings and links of others are used where --traces has them. Without them a figure is made from \
         recordings of our own and from links that are drawn, and its title says so.",
        "Runs that have ended are kept in the directory: after an interrupt, and with other names or more \
         seeds, only what is missing is run. A figure takes the place of an older one of its name there, and the page is \
         written after each.",
    ],
    examples: &[
        ("rove-lab figures", "every figure, in the quick profile"),
        ("rove-lab figures response-500ms --traces DIR --full", "one at length, from recordings"),
        ("rove-lab figures sprout --traces DIR", "those about Sprout and other controllers"),
        ("rove-lab figures ./mine.toml --json | jq '.figures[0].series'", "a scenario of your own"),
    ],
    environment: &[
        ("ROVE_TRACES", "The directory of recordings, where --traces names none."),
        ("ROVE_REMY", "The directory of published controllers, where --tables names none."),
    ],
    files: &[
        ("DIR/figures.html", "Everything on one page, with what it was made from."),
        ("DIR/NAME.svg", "Each figure's picture."),
        ("DIR/figures.json", "Each figure's statistics."),
        ("DIR/figures.csv, DIR/runs.csv", "A number in each line: of figures, and of runs."),
        ("DIR/runs.jsonl", "The runs that have ended."),
        ("DIR/figures.log", "How many runs were done, and when."),
    ],
    exit_status: &[
        ("0", "Everything was made."),
        (
            "1",
            "A scenario or a recording could not be read, a run not be done, or a result not be written.",
        ),
        ("2", "The command line is wrong."),
        ("130", "It was interrupted; the same command goes on."),
    ],
    ..Manual::of(&LABORATORY)
};
