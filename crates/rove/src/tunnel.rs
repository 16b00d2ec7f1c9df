//! A session's datagrams through an ssh connection, for networks that let no UDP pass.
//!
//! [`near`] is the client's side, which holds the [`ssh`] and starts another when it ends ([`retry`] says
//! when, [`login`] is for those that must ask the user); [`far`] is what ssh runs on the host. What travels between them are [`frame`]s; [`carrier`]
//! is one end of that, and bounds how many are on their way. [`inherited`] hands the first ssh from the
//! bootstrap to the client.

pub(crate) mod banner;
pub(crate) mod carrier;
pub(crate) mod far;
pub(crate) mod frame;
pub(crate) mod inherited;
pub(crate) mod login;
pub(crate) mod near;
pub(crate) mod retry;
mod ssh;

/// What the far end says first. What stands before it, start-up files have printed. The number is the
/// version of what follows.
pub(crate) const MARK: &str = "ROVE TUNNEL 1";

/// What the host says when it has no `rove` to be the far end.
pub(crate) const NO_TUNNEL_PROGRAM: &str = "ROVE NO TUNNEL PROGRAM";
