//! Forwards the user's ssh agent to a session's host (`-A`). `socket` is a listening socket that only this user can
//! reach. `joint` copies bytes between two connected sockets, and `filter` checks the requests. `known_hosts` names the
//! host to which a signed login goes.

pub(crate) mod filter;
pub(crate) mod joint;
pub(crate) mod known_hosts;
pub(crate) mod socket;

/// Most connections to an ssh agent at a time, at each end of a session. Chosen: more logins than a user starts.
pub(crate) const CONNECTIONS_MAX: usize = 16;
