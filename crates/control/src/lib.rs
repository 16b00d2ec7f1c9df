//! The control socket of each session, through which `rove list`, `rove kill` and the next login reach this user's
//! servers on this computer.
//!
//! A server's loop holds a [`Listener`]. A program that looks for sessions calls [`survey()`], and sends a request to a
//! single server in a [`Conversation`]. Control sockets carry no screens and no typed keys. The only key that they
//! carry is the session key for a client that joins or replaces another.
//!
//! # Modules, from the bottom up
//!
//! - `directory` decides where the sockets are and who may reach them. `protocol` defines the requests and replies.
//! - `listener` is the server's side, and `ask` the client's. `survey` asks all servers at once.
//! - `handover` lets a new server take the UDP port of a server that only lingers after its session.

#![forbid(unsafe_code)]

mod ask;
mod directory;
mod handover;
mod listener;
mod protocol;
mod survey;

pub use ask::{AskError, Conversation, tell};
pub use directory::{
    Directory, DirectoryError, SessionName, connect, connect_to_user, is_of_user, lock, lock_file,
    private_socket, runtime_directory, sockets_of, wait_for_file,
};
pub use handover::{Handover, ask_for_port};
pub use listener::Listener;
pub use protocol::{
    Answer, Attachment, Carrier, ClientPath, Forwarding, KeyText, ReplyError, Request,
    RequestError, SessionStatus, State, Window,
};
#[doc(hidden)]
pub use protocol::{decode_reply, decode_request, encode_reply};
pub use survey::{Found, Silent, Survey, survey};
