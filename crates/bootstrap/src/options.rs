//! Options of a session to start.

use std::ffi::OsString;

use crate::choices::Choices;
use crate::install_policy::InstallPolicy;
use crate::program_name::ProgramName;
use crate::session_ref::{AttachWay, SessionLabel, SessionRef};

/// A session to start.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(Default))]
pub struct HostOptions {
    /// The name the program was called under.
    pub name: ProgramName,
    /// The client program, if not the usual one.
    pub client: Option<OsString>,
    /// The server command, if not the usual one.
    pub server: Option<OsString>,
    /// The client's options.
    pub choices: Choices,
    /// The address family, in lower case, maybe unknown.
    pub family: String,
    /// The server's UDP port or range, checked.
    pub port: Option<String>,
    /// The address the server binds.
    pub bind_server: BindServer,
    /// The words of the ssh command, never none.
    pub ssh: Vec<String>,
    /// Whether ssh is asked for a terminal.
    pub ssh_pty: bool,
    /// Whether to start the server on this computer.
    pub local: bool,
    /// Whether the session's datagrams go through ssh.
    pub tunnel: bool,
    /// How to learn the server's address, if the user said.
    pub remote_ip: Option<RemoteIp>,
    /// The escape key, if the user said: `Some(None)` is off.
    pub escape_key: Option<Option<u8>>,
    /// Whether to say nothing but what is wrong.
    pub quiet: bool,
    /// Whether to say what is done.
    pub verbose: bool,
    /// Whether rove may be copied to a host that has no server.
    pub install: InstallPolicy,
    /// Whether prompts are remembered from one session to the next.
    pub prompt_memory: bool,
    /// `[user@]host`.
    pub host: OsString,
    /// The remote command and its arguments; empty for the login shell.
    pub command: Vec<OsString>,
    /// Which session it is to be.
    pub session: WantedSession,
}

/// The session that a login is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WantedSession {
    /// A new one.
    #[default]
    New,
    /// The one of this name, or a new one of this name.
    Named(SessionLabel),
    /// A running session, in some way; `None` for the only one without a client, or to join for the only one with one.
    Attached(Option<SessionRef>, AttachWay),
}

/// The ports that only a privileged server can bind, and where ssh's own usually is, end here.
/// Source: RFC 6335, section 6.
const USER_PORTS_FROM: u16 = 1024;

impl HostOptions {
    /// Returns the option by which ssh is held to the address family, if there is one.
    pub fn family_word(&self) -> Option<&'static str> {
        match self.family.as_str() {
            "inet" => Some("-4"),
            "inet6" => Some("-6"),
            _ => None,
        }
    }

    /// Returns whether the UDP port is a range.
    pub fn has_port_range(&self) -> bool {
        self.port.as_ref().is_some_and(|port| port.contains(':'))
    }

    /// Returns the server's UDP port, if the user has chosen one and not a range.
    pub fn single_port(&self) -> Option<u16> {
        self.port.as_ref()?.parse().ok().filter(|port| *port != 0)
    }

    /// Returns what to say of a UDP port that was probably meant for ssh.
    pub fn port_hint(&self) -> Option<String> {
        let port = self.single_port()?;
        let is_low = self.name == ProgramName::Rove && port < USER_PORTS_FROM;
        is_low.then(|| {
            format!(
                "-p {port} is the UDP port of the session, which below {USER_PORTS_FROM} only root can have; \
                 ssh's port is --ssh=\"ssh -p {port}\""
            )
        })
    }
}

/// The address a server is told to bind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BindServer {
    /// Any of a `rove`, which answers from where it was spoken to; of a stock server the one ssh arrived at.
    #[default]
    Open,
    /// The one ssh arrived at.
    Ssh,
    /// Any.
    Any,
    /// This one.
    Address(String),
}

/// How the server's address is learnt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteIp {
    /// From our own proxy command, which connects for ssh.
    Proxy,
    /// From the server's `SSH_CONNECTION`.
    Remote,
    /// From resolving the name here.
    Local,
}
