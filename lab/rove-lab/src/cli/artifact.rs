//! The command line of `rove-lab artifact`.

use clap::{Args, Command};
use rove_cli_docs::Manual;

use crate::cli::figures;
use crate::cli::program::LABORATORY;
use crate::experiment::artifact::ArtifactOptions;

/// The manual of `rove-lab artifact`.
pub(crate) static MANUAL: Manual = Manual {
    word: "artifact",
    definition: || ArtifactOptions::augment_args(Command::new("rove-lab artifact")),
    notes: &[
        "The directory has what evaluators of a paper need to check its figures and to make them again: the figures as `rove-lab figures` \
         makes them, their scenarios with the files beside these, numbers for a first run, the versions of all crates, checksums, and a README \
         with the steps, the time of each figure and the verdicts. Recordings of others are not in it; the README has their digests.",
        "With --sources it also has the program: the newest commit of a git clone with the crates that `cargo vendor` fetches. It builds \
         without a network.",
        "After an interrupt the same command goes on. A directory that holds anything else is refused.",
    ],
    examples: &[
        ("rove-lab artifact start ./mine.toml", "a figure of ours and one of your own"),
        ("rove-lab artifact --sources . sprout", "figures with the program, in its own clone"),
        ("rove-lab artifact --check artifact", "whether all files are as they were made"),
        ("rove-lab artifact --first-run artifact", "whether this computer has the same numbers"),
    ],
    environment: figures::MANUAL.environment,
    files: &[
        ("DIR/README.md", "The steps, the computer, digests and verdicts."),
        ("DIR/SHA256SUMS", "The checksums of all other files, as sha256sum reads them."),
        ("DIR/figures, DIR/scenarios", "The figures, and the scenarios that they are of."),
        ("DIR/expected.csv", "The numbers that a first run has."),
        ("DIR/Cargo.lock, DIR/sources.tar.gz", "The crates' versions; the program with them."),
    ],
    exit_status: &[
        ("0", "Everything was made, is as it was made, or has the expected numbers."),
        (
            "1",
            "Something could not be made, a file is missing, damaged or not of the artifact, or a number is another one.",
        ),
        ("2", "The command line is wrong."),
        ("130", "It was interrupted; the same command goes on."),
    ],
    ..Manual::of(&LABORATORY)
};
