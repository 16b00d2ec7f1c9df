//! What a session to start is asked to be.

use std::ffi::OsString;

use rove_session::Preference;

use crate::install::policy::Policy;
use crate::program::ProgramName;

/// A session to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostOptions {
    /// The name the program was called under.
    pub(crate) name: ProgramName,
    /// The client program, if not the usual one.
    pub(crate) client: Option<OsString>,
    /// The server command, if not the usual one.
    pub(crate) server: Option<OsString>,
    /// When to show predictions.
    pub(crate) predict: Preference,
    /// Whether predictions overwrite.
    pub(crate) predict_overwrite: bool,
    /// The address family, in lower case, maybe unknown.
    pub(crate) family: String,
    /// The server's UDP port or range, checked.
    pub(crate) port: Option<String>,
    /// The address the server binds.
    pub(crate) bind_server: BindServer,
    /// The words of the ssh command, never none.
    pub(crate) ssh: Vec<String>,
    /// Whether ssh is asked for a terminal.
    pub(crate) ssh_pty: bool,
    /// Whether to use the terminal's alternate screen.
    pub(crate) init: bool,
    /// Whether lines that scroll off at the host go to the terminal's own history, if the user said.
    pub(crate) scrollback: Option<bool>,
    /// Whether to start the server on this computer.
    pub(crate) local: bool,
    /// Whether the session's datagrams go through ssh.
    pub(crate) tunnel: bool,
    /// How to learn the server's address, if the user said.
    pub(crate) remote_ip: Option<RemoteIp>,
    /// The escape key, if the user said: `Some(None)` is off.
    pub(crate) escape_key: Option<Option<u8>>,
    /// Whether to speak stock Mosh only.
    pub(crate) strict: bool,
    /// Whether to say nothing but what is wrong.
    pub(crate) quiet: bool,
    /// Whether to say what is done.
    pub(crate) verbose: bool,
    /// Whether window titles get the program's name in front.
    pub(crate) title_prefix: bool,
    /// Whether the terminal may be asked what it can do.
    pub(crate) query: bool,
    /// Whether rove may be copied to a host that has no server.
    pub(crate) install: Policy,
    /// Whether programs on the host may ask for what a program of the session has copied.
    pub(crate) read_copied: bool,
    /// Whether prompts are remembered from one session to the next.
    pub(crate) prompt_memory: bool,
    /// `[user@]host`.
    pub(crate) host: OsString,
    /// The remote command and its arguments; empty for the login shell.
    pub(crate) command: Vec<OsString>,
}

/// The ports that only a privileged server can bind, and where ssh's own usually is, end here.
/// Source: RFC 6335, section 6.
const USER_PORTS_FROM: u16 = 1024;

impl HostOptions {
    /// Returns the server's UDP port, if the user has chosen one and not a range.
    pub(crate) fn single_port(&self) -> Option<u16> {
        self.port.as_ref()?.parse().ok().filter(|port| *port != 0)
    }

    /// Returns what to say of a UDP port that was probably meant for ssh.
    pub(crate) fn port_hint(&self) -> Option<String> {
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BindServer {
    /// Any of a `rove`, which answers from where it was spoken to; of a stock server the one ssh arrived at.
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
pub(crate) enum RemoteIp {
    /// From our own proxy command, which connects for ssh.
    Proxy,
    /// From the server's `SSH_CONNECTION`.
    Remote,
    /// From resolving the name here.
    Local,
}
