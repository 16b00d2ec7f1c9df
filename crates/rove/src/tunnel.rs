//! Carries a session's datagrams through an ssh connection, for networks that block UDP.
//!
//! [`near`] is the client's end, which runs the [`ssh`] process and starts another when it ends. [`login`] starts an
//! ssh that must ask the user. [`spare`] is the ssh beside UDP, used while UDP is silent. [`jump`] is the ssh to a jump
//! host. [`far`] is the program that ssh runs on the host, and [`forwarder`] the one on a jump host, each between ssh's
//! [`pipes`]. [`inherited`] passes the first ssh from the bootstrap to the client.

pub(crate) mod far;
pub(crate) mod forwarder;
pub(crate) mod inherited;
pub(crate) mod jump;
pub(crate) mod login;
pub(crate) mod near;
mod pipes;
pub(crate) mod spare;
mod ssh;
