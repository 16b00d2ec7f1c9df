//! The command line of `rove-lab validate`.

use clap::{Args, Command};
use rove_cli_docs::Manual;

use crate::cli::program::LABORATORY;
use crate::validate::Check;

/// The manual of `rove-lab validate`.
pub(crate) static MANUAL: Manual = Manual {
    word: "validate",
    definition: || ValidateArgs::augment_args(Command::new("rove-lab validate")),
    notes: &[
        "Each check sends packets through an emulated link in real time, and prints the figure that the link's \
         description demands and the one that was measured. A computer that is busy with something else fails the \
         checks of times: leave it alone meanwhile.",
    ],
    examples: &[
        ("rove-lab validate", "every check, in a minute and a half"),
        ("rove-lab validate real-virtual loss", "two of them"),
    ],
    exit_status: &[
        ("0", "Every figure is as expected."),
        ("1", "A figure is not, or there could be no link."),
        ("2", "The command line is wrong."),
    ],
    ..Manual::of(&LABORATORY)
};

/// Holds the real-time emulator against what a link of its description does
#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// The checks to make [default: all]
    #[arg(value_name = "CHECK")]
    pub(crate) checks: Vec<Check>,
    /// Write JSON
    #[arg(long)]
    pub(crate) json: bool,
}
