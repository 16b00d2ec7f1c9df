//! Starts a session over ssh, sans I/O: decides what ssh runs, and reads its output.
//!
//! The caller runs ssh and `ssh -G`, resolves names and reads files. This crate recognises rove's own lines in the
//! output of ssh and the host, and explains why a session could not be started.
//!
//! # Modules, from the bottom up
//!
//! - `named` generates the names of a setting's values. `program_name`, `install_policy`, `platform`, `account` and
//!   `session_ref` each define a small value. `options` holds the user's options for a login, and `choices` those for
//!   the client.
//! - `quote` quotes words for a shell, and `remote` makes the command that ssh runs on the host.
//! - `line` splits output into lines, and `challenge` recognises the lines of rove's commands. `startup` reads both
//!   output streams of ssh. `printable` removes control sequences from the text for the user.
//! - `ssh_config` parses the output of `ssh -G`, `forwards` its port forwards, and `agent` its ssh agent.
//!   `forward_line` parses a forward that the user adds later. `sharing` decides whether ssh shares a connection.
//! - `last_words` explains why ssh has failed, and `no_session` why ssh has started no session.
//! - `plan` decides what ssh runs, and where the session's server is.
//! - `tunnel` carries datagrams through ssh. `banner` skips earlier output, `frame` defines the format, and `carrier`
//!   is one end. `retry` decides when another ssh starts, `standby` when ssh logs in while UDP is silent, and
//!   `connection` whether ssh shares an open connection. `forwarder` relays on a jump host.

#![forbid(unsafe_code)]

#[macro_use]
mod named;

mod account;
mod agent;
mod challenge;
mod choices;
mod forward_line;
mod forwards;
mod install_policy;
pub mod last_words;
mod line;
mod no_session;
mod options;
mod plan;
mod platform;
mod printable;
mod program_name;
pub mod quote;
pub mod remote;
mod session_ref;
mod sharing;
pub mod ssh_config;
pub mod startup;
pub mod tunnel;

pub use account::Account;
pub use agent::{AgentUse, LentAgent};
pub use challenge::Challenge;
pub use choices::{Choices, Resume};
pub use forward_line::ForwardLine;
pub use forwards::{Forward, Forwards, Permitted, Place, RemoteForward};
pub use install_policy::InstallPolicy;
pub use line::{LINE_BYTES_MAX, LineReader};
pub use no_session::NoSession;
pub use options::{
    BindServer, DetachedUse, HostOptions, Joined, Passage, RemoteIp, Resumed, TunnelUse,
    WantedSession,
};
pub use plan::{HANDS_OVER, Plan, Route, SSH_FAILURE, ServerAddress, Way, numeric, proxy_option};
pub use platform::Platform;
pub use printable::Printable;
pub use program_name::ProgramName;
pub use session_ref::{LabelError, SessionLabel, SessionRef, attach_command};
pub use sharing::{OWN_CONNECTION, Shared, Sharing};
