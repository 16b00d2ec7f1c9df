//! Carries a session's datagrams through an ssh connection, for networks that block UDP.
//!
//! [`near`] is the client's end if ssh is the only path. It runs the [`ssh`] process, and starts another when that
//! process ends. [`spare`] is the client's end for an ssh that is used only while UDP is silent. [`login`] starts an
//! ssh that may ask the user, and [`jump`] an ssh to a jump host. [`far`] is the program that ssh runs on the host, and
//! [`forwarder`] the program on a jump host. [`pipes`] are their standard input and output. [`inherited`] passes the
//! login's ssh from the bootstrap to the client.

pub(crate) mod far;
pub(crate) mod forwarder;
pub(crate) mod inherited;
pub(crate) mod jump;
pub(crate) mod login;
pub(crate) mod near;
mod pipes;
pub(crate) mod spare;
mod ssh;
