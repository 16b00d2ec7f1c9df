//! The control socket of each session: how `rove list`, `rove kill` and the next login reach the servers of this user on
//! this computer.
//!
//! A server's loop holds a [`Listener`]. A program that looks for sessions calls [`survey()`], and asks one session's
//! server in a [`Conversation`]. Neither screens nor typed keys are sent here. The only session key that is sent is
//! that of a next client.
//!
//! # Modules, from the bottom up
//!
//! - `directory` decides where the sockets are and who may reach them. `protocol` is the bytes on them.
//! - `listener` is the server's side, and `ask` the client's. `survey` asks all servers at once.
//! - `handover` gives the port of a server that lingers to the next server.

#![forbid(unsafe_code)]

mod ask;
mod directory;
mod handover;
mod listener;
mod protocol;
mod survey;

pub use ask::{AskError, Conversation, tell};
pub use directory::{
    Directory, DirectoryError, SessionName, is_of_user, lock_labels, private_socket,
    runtime_directory, sockets_of,
};
pub use handover::{Handover, ask_for_port};
pub use listener::Listener;
pub use protocol::{
    Answer, Attachment, Carrier, ClientPath, Forwarding, KeyText, ReplyError, Request,
    RequestError, SessionStatus, State, Window,
};
#[doc(hidden)]
pub use protocol::{decode_reply, decode_request};
pub use survey::{Found, Silent, Survey, survey};
