//! The command line of `rove-lab replay`.

use clap::{Args, Command};
use rove_cli_docs::Manual;
use rove_replay::replay::ReplayOptions;

use crate::cli::program::{LABORATORY, exits};

/// The help and manual page of `rove-lab replay`.
pub(crate) static MANUAL: Manual = Manual {
    word: "replay",
    definition: || {
        ReplayOptions::augment_args(Command::new("rove-lab replay")).override_usage(
            "rove-lab replay [options] TRACE...\n       rove-lab replay [options] --traces DIR",
        )
    },
    notes: &[
        "The table has a line for each recording, over all seeds. docs/lab.md explains its columns.",
        "--json writes the options, runs (with trace, link, seed) and pooled (of each link). Both have all, typing and classes (character, backspace, \
         arrow, other) with keys, instant, instant_percent, never_seen, mean_ms (of those seen) and latency_ms (p5 to p99; null: never seen); wrong and \
         its like with keys and percent; flicker and cursor_blinks with own, all, local; uplink and downlink with datagrams, bytes; corrected_ms and \
         gone_ms with p50, p100 until the screen was true again, and until nothing on it was wrong; runs, keys, mistakes, \
         mistakes_never_corrected, mistakes_gone_late, unexpected_bytes; true_ends, the runs that ended as recorded; secrets, the keys typed while lines \
         were read without echo, and secrets_shown, those after which anything wrong was drawn.",
        "With --ablate, ablation has for each link pooled, and mechanisms with without (the name), pooled and traces: all_points, typing_points, \
         wrong_keys, wrong_any_keys, wrong_color_keys, changed_keys. A mechanism of use has negative points.",
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
        ("rove-lab replay --traces DIR vim-edit --explain=17", "why key 17 was shown or was not"),
        (
            "rove-lab replay --traces DIR --ablate",
            "what each mechanism is worth: points of instant keys, and keys with something wrong",
        ),
        (
            "rove-lab replay --traces DIR --seeds 20 --link rtt=500ms --link rtt=5s",
            "twenty runs of each over two paths, pooled for each path",
        ),
    ],
    exit_status: &exits("A recording could not be read or replayed, or the output not written."),
    ..Manual::of(&LABORATORY)
};
