//! The command line of `rove-lab compare`.

use clap::{Args, Command};
use rove_cli_docs::Manual;

use crate::cli::program::{LABORATORY, exits};
use crate::compare::CompareOptions;

/// The manual of `rove-lab compare`.
pub(crate) static MANUAL: Manual = Manual {
    word: "compare",
    definition: || {
        CompareOptions::augment_args(Command::new("rove-lab compare"))
            .override_usage(
            "rove-lab compare [options] RECORDING...\n       rove-lab compare [options] --flood SIZE\n       \
             rove-lab compare [options] --interrupt",
        )
    },
    notes: &[
        "Recorded keys are typed at real clients, and each is timed until its answer is on the client's screen. Every \
         system runs on a testbed of its own (rove-lab emulate), one after another: at once they would take the \
         processor from each other. The link has its delay, but loses nothing, until six echoed keys have settled the \
         session; the same seed then loses the packets of the same numbers.",
        "ssh runs with an sshd, a configuration and keys of its own; stock Mosh and rove run without ssh, as their \
         servers announce themselves. Shares, classes of keys and wrong drawings are those of rove-lab replay, as far as a \
         client can be judged from outside. docs/lab.md describes all of it.",
        "It needs what rove-lab emulate needs: root, or user namespaces.",
    ],
    examples: &[
        ("rove-lab compare session.jsonl --link rtt=500ms", "all systems over half a second"),
        ("rove-lab compare --flood 50M --link rtt=20ms", "50 MB of output"),
        ("rove-lab compare --interrupt --link rtt=100ms,rate=1Mbit,queue=1M", "Ctrl-C in a flood"),
    ],
    environment: &[("ROVE", "The rove that is compared, where --rove names none.")],
    exit_status: &exits(
        "A program, a recording or a right was missing, a run failed, or the user interrupted; finished runs are \
             printed.",
    ),
    ..Manual::of(&LABORATORY)
};
