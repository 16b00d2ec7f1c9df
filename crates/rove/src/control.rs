//! The control socket of each session: how `rove list` and `rove kill`, and the next login, reach the
//! servers of this user on this computer.
//!
//! `directory` decides where the sockets are and who may reach them, `protocol` is the bytes on them,
//! `listener` the server's side in its loop, `ask` the other side, `survey` all servers at once, `handover` the end of
//! a server that lingers.

mod ask;
pub(crate) mod directory;
mod handover;
mod listener;
pub(crate) mod protocol;
mod survey;

pub(crate) use ask::{AskError, Conversation};
pub(crate) use directory::{SessionName, private_socket};
pub(crate) use handover::{Handover, ask_for_port};
pub(crate) use listener::Listener;
pub(crate) use protocol::{Request, SessionStatus, State};
pub(crate) use survey::{Found, Survey, survey};
