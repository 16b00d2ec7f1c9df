//! A session's datagrams through an ssh connection, for networks that let no UDP pass.
//!
//! [`near`] is the client's side, which holds the [`ssh`] and starts another when it ends; [`login`] is for those that
//! must ask the user. [`spare`] is the same beside UDP. [`far`] is what ssh runs on the host. [`inherited`] hands the first ssh from the bootstrap to the
//! client.

pub(crate) mod far;
pub(crate) mod inherited;
pub(crate) mod login;
pub(crate) mod near;
pub(crate) mod spare;
mod ssh;
