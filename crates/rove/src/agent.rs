//! The user's agent, lent to a session's host (`-A`): a socket of this user's alone (`socket`), two joined connections
//! (`joint`), what may pass to the agent (`filter`), and the hosts that its keys are used for (`known_hosts`).

pub(crate) mod filter;
pub(crate) mod joint;
pub(crate) mod known_hosts;
pub(crate) mod socket;

/// Most connections to an agent at a time. Source: the wire contract, docs/wire.md.
pub(crate) const CONNECTIONS_MAX: usize = 16;
