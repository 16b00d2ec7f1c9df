//! The command line of `rove-lab artifact`.

use clap::{Args, Command};
use rove_cli_docs::Manual;

use crate::cli::program::LABORATORY;
use crate::experiment::artifact::ArtifactOptions;

/// The manual of `rove-lab artifact`.
pub(crate) static MANUAL: Manual = Manual {
    word: "artifact",
    definition: || ArtifactOptions::augment_args(Command::new("rove-lab artifact")),
    notes: &[
        "The directory has what evaluators of a paper need to check its figures and to make them again: the figures as `rove-lab figures` \
         makes them, their scenarios with the files beside these, the versions of all crates, a README with the commands and the verdicts, and \
         checksums. Recordings of others are not in it; the README has their digests.",
        "After an interrupt the same command goes on. A directory that holds anything else is refused.",
    ],
    examples: &[
        ("rove-lab artifact start ./mine.toml", "a figure of ours and one of your own"),
        ("rove-lab artifact --check artifact", "whether all files are as they were made"),
    ],
    environment: &[
        ("ROVE_TRACES", "The directory of recordings, where --traces names none."),
        ("ROVE_REMY", "The directory of published controllers, where --tables names none."),
    ],
    files: &[
        ("DIR/README.md", "The commands, the computer, digests and verdicts."),
        ("DIR/SHA256SUMS", "The checksums of all other files, as sha256sum reads them."),
        ("DIR/figures, DIR/scenarios", "The figures, and the scenarios that they are of."),
        ("DIR/Cargo.lock", "The versions of all crates."),
    ],
    exit_status: &[
        ("0", "Everything was made, or is as it was made."),
        ("1", "A figure could not be made, or a file is missing, damaged, or not of the artifact."),
        ("2", "The command line is wrong."),
        ("130", "It was interrupted; the same command goes on."),
    ],
    ..Manual::of(&LABORATORY)
};
