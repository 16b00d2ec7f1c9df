//! Carries a session's datagrams through an ssh connection, for networks that block UDP.
//!
//! [`near`] is the client's end, which runs the [`ssh`] process and starts another when it ends. [`login`] starts an
//! ssh that must ask the user. [`spare`] is the ssh beside UDP, used while UDP is silent. [`far`] is the program that
//! ssh runs on the host. [`inherited`] passes the first ssh from the bootstrap to the client.

pub(crate) mod far;
pub(crate) mod inherited;
pub(crate) mod login;
pub(crate) mod near;
pub(crate) mod spare;
mod ssh;
