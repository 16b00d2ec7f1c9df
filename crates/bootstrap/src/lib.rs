//! The start of a session over ssh, sans I/O: what ssh is to run, and how its output is read.
//!
//! The caller runs ssh, asks for its configuration, resolves names and reads files. This crate decides what to run,
//! recognises rove's own lines in the output of ssh and the host, and says why there is no session.
//!
//! # Modules, from the bottom up
//!
//! - `program_name`, `install_policy`, `platform`, `account` and `session_ref` are small values. `options` holds the
//!   user's options, and `choices` those for the client.
//! - `quote` writes words for a shell, and `remote` the command that ssh runs on the host.
//! - `challenge` recognises rove's lines, and `line` reads them byte by byte. `startup` reads both streams of ssh.
//!   `printable` makes the rest harmless for a terminal.
//! - `ssh_config` reads the answer of `ssh -G`, `forwards` the ports in it, and `agent` the agent. `forward_line` reads a port that is added in a session. `sharing` judges an open connection. `last_words` says in one sentence
//!   why ssh has failed, and `no_session` why it has brought none.
//! - `plan` decides what ssh runs, where the session's server is, and why there is none.
//! - `tunnel` is the protocol of datagrams through ssh: `banner` finds its beginning, `frame` has its bytes, `carrier`
//!   is one end. `retry` decides when another ssh is started, and `standby` when one logs in beside UDP. `connection`
//!   decides whether that shares an open connection. `forwarder` passes datagrams on at a jump host, whose `sshd_config` may
//!   forbid that.

#![forbid(unsafe_code)]

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
