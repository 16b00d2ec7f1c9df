//! The description of the laboratory in its help and manual pages, without its commands.

use rove_cli_docs::Program;

/// The laboratory's name, purpose and version.
pub(super) static LABORATORY: Program = Program {
    name: "rove-lab",
    about: "rove-lab is the laboratory of rove, a remote shell that survives the network. Each of its commands \
            examines a part of rove, and tells what it found as text or as JSON.",
    version: env!("CARGO_PKG_VERSION"),
    see_also: &["rove"],
};

/// Returns a command's exit codes with their meanings. `failed` is the meaning of exit code 1.
pub(super) const fn exits(failed: &str) -> [(&str, &str); 3] {
    [("0", "It was done."), ("1", failed), ("2", "The command line is wrong.")]
}
