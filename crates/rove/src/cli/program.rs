//! The three programs that rove acts as, with their names and versions.

use rove_bootstrap::ProgramName;

/// The version of Mosh that the programs with Mosh's names imitate. Scripts look for it in `--version`.
const MOSH_VERSION: &str = "1.4.0";

const LICENSE: &str = "License MIT or Apache-2.0, at your choice. There is no warranty.";

/// A program that rove acts as, under rove's own name or Mosh's.
#[derive(Clone, Copy)]
pub(super) enum Program {
    Wrapper,
    Client,
    Server,
}

impl Program {
    /// Returns the program's name: rove's own or Mosh's, as `name` says.
    pub(super) const fn called(self, name: ProgramName) -> &'static str {
        match (self, name) {
            (Self::Wrapper, ProgramName::Rove) => "rove",
            (Self::Client, ProgramName::Rove) => "rove client",
            (Self::Server, ProgramName::Rove) => "rove server",
            (Self::Wrapper, ProgramName::Mosh) => "mosh",
            (Self::Client, ProgramName::Mosh) => "mosh-client",
            (Self::Server, ProgramName::Mosh) => "mosh-server",
        }
    }

    /// Returns the text of `--version`. Under Mosh's names it begins with Mosh's version, for scripts that look for it.
    pub(super) fn version(self, name: ProgramName) -> String {
        let ours = env!("CARGO_PKG_VERSION");
        let first = match (name, self) {
            (ProgramName::Rove, _) => format!("rove {ours}"),
            (ProgramName::Mosh, Self::Wrapper) => {
                format!("mosh {MOSH_VERSION} [build rove {ours}]")
            }
            (ProgramName::Mosh, program) => {
                format!("{} (mosh {MOSH_VERSION}) [build rove {ours}]", program.called(name))
            }
        };
        format!("{first}\n{LICENSE}")
    }
}
