//! The command line of `rove-lab aoi`.

use clap::{Args, Command};
use rove_cli_docs::Manual;

use crate::aoi::AoiOptions;
use crate::cli::program::LABORATORY;

/// The help and manual page of `rove-lab aoi`.
pub(crate) static MANUAL: Manual = Manual {
    word: "aoi",
    definition: || AoiOptions::augment_args(Command::new("rove-lab aoi")),
    notes: &[
        "A sender that tells a receiver of its newest state by a difference must choose the older state that the \
         difference starts from: the one that is known to have arrived, or the newest that has no reason to be lost \
         yet. Lambda is the probability that it takes the known one. The age of information says how old the newest \
         state is that the receiver has, at any time; catch-up is how long after its production a state, or a newer \
         one, is there.",
        "The same seed loses the same datagrams whatever lambda is. docs/lab.md describes what is written, and \
         answers the study's questions; `rove-lab figures aoi` asks them of the transport that ships.",
    ],
    examples: &[
        ("rove-lab aoi", "both parts, in short"),
        (
            "rove-lab aoi study --delay 300ms --loss 10% --lambda 0 --lambda 1",
            "one path, two senders",
        ),
        ("rove-lab aoi study --log-on-receipt --json", "with a mistake in the receiver"),
        ("rove-lab aoi model --full", "closed forms, and long runs of their model"),
    ],
    exit_status: &[
        ("0", "Everything was done."),
        ("1", "A run could not be done, or a result not be written."),
        ("2", "The command line is wrong."),
    ],
    ..Manual::of(&LABORATORY)
};
