//! The user's agent, lent to a session's host (`-A`): a socket of this user's alone (`socket`), two joined connections
//! (`joint`), and what may pass to the agent (`filter`).

pub(crate) mod filter;
pub(crate) mod joint;
pub(crate) mod socket;

/// Most connections to an agent at a time. Source: the wire contract, docs/wire.md.
pub(crate) const CONNECTIONS_MAX: usize = 16;
