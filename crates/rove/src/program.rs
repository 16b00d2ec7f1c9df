//! The description of rove for its manual and help.

use rove_cli_docs::Program;

/// The name, description and version of rove.
pub(crate) static ROVE: Program = Program {
    name: "rove",
    about: "rove is a remote shell that survives the network. It logs in by the ssh that is there; from then on \
            the session lives in UDP datagrams: it survives sleep, a change of address and loss, and Ctrl-C stops \
            a program at once. It speaks the Mosh protocol, so that either end may be stock Mosh 1.4.",
    version: env!("CARGO_PKG_VERSION"),
    see_also: &["ssh", "mosh"],
};
