//! The program as users are told of it, and the name that it was called under.

use rove_cli_docs::Program;

/// The program as its pages and its help describe it.
pub(crate) static ROVE: Program = Program {
    name: "rove",
    about: "rove is a remote shell that survives the network. It logs in by the ssh that is there; from then on \
            the session lives in UDP datagrams: it survives sleep, a change of address and loss, and Ctrl-C stops \
            a program at once. It speaks the Mosh protocol, so that either end may be stock Mosh 1.4.",
    version: env!("CARGO_PKG_VERSION"),
    see_also: &["ssh", "mosh"],
};

/// Under which name the program was called; decides wording, never behaviour on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ProgramName {
    /// Called as `rove`.
    #[default]
    Rove,
    /// Called as `mosh`, `mosh-client` or `mosh-server`: scripts match on the wording.
    Mosh,
}

impl ProgramName {
    /// Returns the name for notices, titles and messages.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Rove => "rove",
            Self::Mosh => "mosh",
        }
    }
}
