//! The command line of `rove-lab replay`.

use clap::{Args, Command};
use rove_cli_docs::Manual;
use rove_replay::replay::ReplayOptions;

use crate::cli::program::LABORATORY;

/// The help and manual page of `rove-lab replay`.
pub(crate) static MANUAL: Manual = Manual {
    word: "replay",
    definition: || {
        ReplayOptions::augment_args(Command::new("rove-lab replay")).override_usage(
            "rove-lab replay [options] TRACE...\n       rove-lab replay [options] --traces DIR",
        )
    },
    notes: &[
        "The table has a line for each recording, over all seeds: keys, those judged (that have an \
         answer), the share of them that is instant (under 5 ms) of all, of typing keys and of each class, \
         the latencies that 50, 90 and 99 % do not exceed, the shares of keys after which something wrong \
         was drawn, how long that stayed (median / longest) and how often longer than the host's answer + \
         100 ms, and bytes up and down. docs/lab.md describes all of it.",
    ],
    examples: &[
        (
            "rove-lab replay session.jsonl --link rtt=500ms,jitter=30ms --pace look",
            "one recording over one path",
        ),
        (
            "rove-lab replay --traces DIR --json | jq '.pooled[].all.instant_percent'",
            "a directory of them, and one figure of the result",
        ),
        (
            "rove-lab replay --traces DIR vim-edit --first 250 --engine replay --explain",
            "what was late or wrong in a part of one",
        ),
        (
            "rove-lab replay --traces DIR vim-edit --explain=17",
            "why key 17 was shown before its answer or was not",
        ),
        (
            "rove-lab replay --traces DIR --without history --without motions",
            "what is left without two mechanisms of the engine",
        ),
        (
            "rove-lab replay --traces DIR --ablate",
            "what each mechanism is worth: points of instant keys, and keys with something wrong",
        ),
        (
            "rove-lab replay --traces DIR --seeds 20 --link rtt=500ms --link rtt=5s",
            "twenty runs of each over two paths, pooled for each path",
        ),
    ],
    exit_status: &[
        ("0", "Everything was replayed."),
        ("1", "A recording could not be read or replayed, or the output not written."),
        ("2", "The command line is wrong."),
    ],
    ..Manual::of(&LABORATORY)
};
