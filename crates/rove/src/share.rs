//! Lets calls of rove (`-W`, `exec`) use the session of a running client with the same login, like ssh's ControlMaster.
//!
//! `gate` decides which sessions and calls have the same login, and where the socket is. `message` has the messages on
//! that socket: a request with descriptors, and the client's answers. `borrower` is the call's side of the socket, and
//! `client/lender` the client's.

use rove_bootstrap::{HostOptions, ProgramName};

pub(crate) mod borrower;
pub(crate) mod gate;
pub(crate) mod message;

pub(crate) use gate::Gate;

/// Returns whether a session with these options may serve calls, or a call may use a session. `-S none` forbids it, as
/// in ssh. So do `--strict`, `--local` and Mosh's name.
pub(crate) fn may_share(options: &HostOptions) -> bool {
    let is_apart = options.ssh.windows(2).any(|words| words == ["-S", "none"])
        || options.ssh.iter().any(|word| word == "-Snone");
    options.name == ProgramName::Rove && !options.choices.strict && !options.local && !is_apart
}
