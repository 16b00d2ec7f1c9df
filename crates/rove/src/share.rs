//! A client lends its session's streams to other calls of rove for the same gate, as ssh's ControlMaster does.
//!
//! `gate` says which calls are for the same gate, and where their socket is. `message` is what travels on it: a request with
//! the descriptors that the streams are to be joined with, and words about what has become of it. `borrower` is the side
//! of a call that makes no login of its own. The other side is the client's (`client/lender`).

use rove_bootstrap::{HostOptions, ProgramName};

pub(crate) mod borrower;
pub(crate) mod gate;
pub(crate) mod message;

pub(crate) use gate::Gate;

/// Returns whether a session or a call with these options may share. `-S none` keeps it apart, as it keeps an ssh.
pub(crate) fn may_share(options: &HostOptions) -> bool {
    let is_apart = options.ssh.windows(2).any(|words| words == ["-S", "none"])
        || options.ssh.iter().any(|word| word == "-Snone");
    options.name == ProgramName::Rove && !options.choices.strict && !options.local && !is_apart
}
