//! The user's options for a session that is started over ssh.

use std::ffi::OsString;

use rove_session::JoinMode;
use serde::{Deserialize, Serialize};

use crate::agent::AgentUse;
use crate::choices::Choices;
use crate::install_policy::InstallPolicy;
use crate::program_name::ProgramName;
use crate::session_ref::{SessionLabel, SessionRef, attach_command};
use crate::ssh_config;

/// The user's options for a session to start. The default names neither ssh nor a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostOptions {
    /// The name by which the program was called.
    pub name: ProgramName,
    /// The client program. `None` for the usual one.
    pub client: Option<OsString>,
    /// The server command. `None` for the usual one.
    pub server: Option<OsString>,
    /// The options for the client.
    pub choices: Choices,
    /// The address family in lower case. The word may be unknown.
    pub family: String,
    /// The server's UDP port or range of ports, which has been checked. `None` if the user did not say.
    pub port: Option<String>,
    /// The address that the server binds.
    pub bind_server: BindServer,
    /// The words of the ssh command. There is at least one.
    pub ssh: Vec<String>,
    /// Whether ssh is asked for a terminal.
    pub ssh_pty: bool,
    /// Whether to start the server on this computer, without ssh.
    pub local: bool,
    /// When the session's datagrams go through ssh.
    pub tunnel: TunnelUse,
    /// How to learn the server's address. `None` if the user did not say.
    pub remote_ip: Option<RemoteIp>,
    /// The escape key. `None` if the user did not say; `Some(None)` if there is none.
    pub escape_key: Option<Option<u8>>,
    /// Whether rove's threads may be an emulator's that it does not know, on either computer.
    pub allow_emulator: bool,
    /// Whether to print nothing but errors.
    pub quiet: bool,
    /// Whether to print the steps of the start.
    pub verbose: bool,
    /// How the user learns of the use of an agent that is lent.
    pub agent: AgentUse,
    /// Whether rove may be copied to a host that has no server.
    pub install: InstallPolicy,
    /// Whether the positions of prompts are remembered between sessions.
    pub prompt_memory: bool,
    /// The host as the user wrote it: `[user@]host`.
    pub host: OsString,
    /// The command for the host, with its arguments. Empty for the login shell.
    pub command: Vec<OsString>,
    /// Whether the session runs no program, and is there for its forwarded connections.
    pub no_program: bool,
    /// Whether the client of such a session goes to the background.
    pub background: bool,
    /// The session to start or to attach to.
    pub session: WantedSession,
    /// The login's treatment of sessions without a client.
    pub detached: DetachedUse,
}

/// A login's treatment of the user's sessions on the host that have no client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DetachedUse {
    /// The login names them on the screen, with the command to type.
    #[default]
    Hint,
    /// The login asks which one to go on with.
    Ask,
    /// The login goes on with the newest.
    Newest,
    /// The login does not mention such sessions.
    Never,
}

impl DetachedUse {
    /// The values of the setting.
    pub const NAMES: &'static [&'static str] = &["hint", "ask", "newest", "never"];

    /// Returns the use of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Hint, Self::Ask, Self::Newest, Self::Never];
        Self::NAMES.iter().zip(all).find(|(known, _)| **known == name).map(|(_, found)| found)
    }

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// The session that a login asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WantedSession {
    /// A new session.
    #[default]
    New,
    /// The session with this name. If it does not run, a new session gets the name.
    Named(SessionLabel),
    /// A running session, and the mode in which to join it; without a mode, the session is taken over. If no session is
    /// named, it is the only one without a client, or, to join, the only one with a client.
    Attached(Option<SessionRef>, Option<JoinMode>),
    /// A new session without a program, for a connection or a program that is none of a session.
    Streams(Passage),
    /// The session at this port, whose client on this computer is gone.
    Resumed(u16, Resumed),
}

/// The streams that a session without a program is started for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The other end of the streams.
    pub joined: Joined,
    /// The gates on the way, for the environment of an ssh whose ProxyCommand may be rove again.
    pub gates: String,
}

/// The thing at the session's host that the standard descriptors are joined with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Joined {
    /// A host and port to which the session's host connects.
    Port(String),
    /// A program that the session runs.
    Program {
        /// The command as ssh would send it; empty for the login shell. A client takes it from a variable of its own, as
        /// it may be as long as a word can be.
        #[serde(skip)]
        command: OsString,
        /// Whether the command names a subsystem of ssh.
        is_subsystem: bool,
    },
    /// Nothing: files of this computer are copied there.
    Files {
        /// The session into which their paths are typed; empty for the only one.
        session: String,
        /// The bytes of the files' paths, as a path need not be text.
        files: Vec<Vec<u8>>,
    },
}

impl Joined {
    /// Returns the option or command of rove that asks for this.
    pub const fn feature(&self) -> &'static str {
        match self {
            Self::Port(_) => "rove -W",
            Self::Program { .. } => "rove exec",
            Self::Files { .. } => "rove put",
        }
    }
}

/// The record of a client that is gone, from which the next one goes on with a key that the server gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// The name of the record's files.
    pub record: String,
    /// The number of the descriptor that holds the record's lock, from the reading of the record on.
    pub lock: i32,
    /// The client, as the server is told of it ([`Former`](rove_session::Former)).
    pub former: String,
    /// How many keys of it the server has taken. `None` if it does not tell.
    pub taken: Option<u64>,
}

/// The first port that an ordinary user can bind. Lower ports need root, and ssh's own port is usually among them.
/// Source: RFC 6335, section 6.
const USER_PORTS_FROM: u16 = 1024;

impl HostOptions {
    /// Returns the option that restricts ssh to the address family. `None` if there is no restriction.
    pub fn family_word(&self) -> Option<&'static str> {
        match self.family.as_str() {
            "inet" => Some("-4"),
            "inet6" => Some("-6"),
            _ => None,
        }
    }

    /// Returns whether the login's ssh stays open beside UDP, if the host's server turns out to be ours. The server
    /// must also be reachable at the host's loopback.
    pub fn carries_beside(&self) -> bool {
        let is_ours =
            self.name == ProgramName::Rove && self.server.is_none() && self.client.is_none();
        let is_reached = matches!(self.bind_server, BindServer::Open | BindServer::Any);
        let is_asked = self.tunnel == TunnelUse::Auto && !self.local && !self.choices.strict;
        is_asked && is_ours && is_reached && ssh_config::is_ssh(&self.ssh)
    }

    /// Returns whether the session forwards connections, if the host's server can. The client must be rove's own, and ssh
    /// the one that reads what to forward. A client that joins beside another one forwards none.
    pub fn forwards(&self) -> bool {
        let is_ours = self.name == ProgramName::Rove && self.client.is_none();
        let is_read = !self.local && ssh_config::is_ssh(&self.ssh);
        let has_streams = !matches!(
            self.session,
            WantedSession::Streams(_) | WantedSession::Attached(_, Some(_))
        );
        is_ours && is_read && has_streams && !self.choices.strict
    }

    /// Returns what this login does about sessions without a client. Only a login of rove's own for a new session looks
    /// for others, and a quiet login neither asks nor goes on with any.
    pub fn detached_use(&self) -> DetachedUse {
        let is_login = self.name == ProgramName::Rove
            && !self.no_program
            && self.session == WantedSession::New
            && self.command.is_empty()
            && !self.choices.strict;
        match self.detached {
            DetachedUse::Ask | DetachedUse::Newest if self.quiet => DetachedUse::Hint,
            known if is_login => known,
            _ => DetachedUse::Hint,
        }
    }

    /// Returns the command, without the host, that asks again for a session which may have run before this login. `None`
    /// if the login's session is its own.
    pub fn attached_by(&self) -> Option<String> {
        match &self.session {
            WantedSession::Named(name) => Some(format!("{} --session {name}", self.name.as_str())),
            WantedSession::Attached(_, mode) => Some(attach_command(*mode).to_owned()),
            WantedSession::Resumed(..) => Some("rove resume".to_owned()),
            WantedSession::New if self.detached_use() == DetachedUse::Newest => {
                Some(attach_command(None).to_owned())
            }
            WantedSession::New | WantedSession::Streams(_) => None,
        }
    }

    /// Returns whether the login shell may start before the client has come. The client must be rove's own, because
    /// the server does not wait to learn what the client can do. A command waits for its client: it must not run if its
    /// user never sees it.
    pub fn starts_early(&self) -> bool {
        let is_new = matches!(self.session, WantedSession::New | WantedSession::Named(_));
        let is_ours = self.name == ProgramName::Rove && self.client.is_none();
        let is_shell = self.command.is_empty() && !self.no_program;
        is_new && is_ours && is_shell && !self.choices.strict
    }

    /// Returns whether the user chose a range of UDP ports.
    pub fn has_port_range(&self) -> bool {
        self.port.as_ref().is_some_and(|port| port.contains(':'))
    }

    /// Returns the server's UDP port. `None` if the user chose none, a range, or port 0.
    pub fn single_port(&self) -> Option<u16> {
        self.port.as_ref()?.parse().ok().filter(|port| *port != 0)
    }

    /// Returns a hint about a UDP port that was probably meant for ssh. `None` if the port is plausible.
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

/// When a session's datagrams go through ssh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TunnelUse {
    /// All datagrams go through ssh, and the server listens on the host's loopback only.
    Always,
    /// No datagram goes through ssh.
    #[default]
    Never,
    /// Datagrams go through ssh while UDP does not answer.
    Auto,
}

impl TunnelUse {
    /// The values of `--tunnel`, and of the setting.
    pub const NAMES: &'static [&'static str] = &["true", "false", "auto"];

    /// Returns the use of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let all = [Self::Always, Self::Never, Self::Auto];
        Self::NAMES.iter().zip(all).find(|(known, _)| **known == name).map(|(_, found)| found)
    }
}

/// The address that a server is told to bind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BindServer {
    /// Any address of the host for a `rove` server, which answers from the address that the client sent to. For a stock
    /// Mosh server, the address at which ssh arrived.
    #[default]
    Open,
    /// The address at which ssh arrived.
    Ssh,
    /// Any address of the host.
    Any,
    /// The address that the user gave.
    Address(String),
}

/// How the client learns the server's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteIp {
    /// From rove's own proxy command, which connects on behalf of ssh.
    Proxy,
    /// From the variable `SSH_CONNECTION` on the server's host.
    Remote,
    /// From resolving the host's name on this computer.
    Local,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_login_of_a_new_shell_is_about_sessions_without_a_client() {
        use DetachedUse::{Ask, Hint, Never, Newest};
        let login = |detached| HostOptions { detached, ..HostOptions::default() };
        for use_ in [Hint, Ask, Newest, Never] {
            assert_eq!(login(use_).detached_use(), use_);
            assert_eq!(DetachedUse::from_name(use_.name()), Some(use_));
            let command = HostOptions { command: vec!["ls".into()], ..login(use_) };
            let mosh = HostOptions { name: ProgramName::Mosh, ..login(use_) };
            let named = WantedSession::Named("work".parse().unwrap());
            let named = HostOptions { session: named, ..login(use_) };
            let mut strict = login(use_);
            strict.choices.strict = true;
            for other in [command, mosh, named, strict] {
                assert_eq!(other.detached_use(), Hint, "{other:?}");
            }
        }
        for (use_, wanted) in [(Ask, Hint), (Newest, Hint), (Never, Never)] {
            let quiet = HostOptions { quiet: true, ..login(use_) };
            assert_eq!(quiet.detached_use(), wanted);
        }
        assert_eq!(DetachedUse::from_name("always"), None);
    }

    #[test]
    fn a_login_to_a_session_that_may_run_is_repeated_by_its_own_command() {
        let by = |session, detached| {
            HostOptions { session, detached, ..HostOptions::default() }.attached_by()
        };
        let resumed =
            Resumed { record: String::new(), lock: 3, former: String::new(), taken: None };
        let joined = Joined::Port(String::new());
        let passage = Passage { joined, gates: String::new() };
        for (session, command) in [
            (WantedSession::New, None),
            (WantedSession::Streams(passage), None),
            (WantedSession::Named("work".parse().unwrap()), Some("rove --session work")),
            (WantedSession::Attached(None, None), Some("rove attach")),
            (WantedSession::Attached(None, Some(JoinMode::View)), Some("rove attach --view")),
            (WantedSession::Resumed(1, resumed), Some("rove resume")),
        ] {
            assert_eq!(by(session, DetachedUse::Hint).as_deref(), command);
        }
        let newest = by(WantedSession::New, DetachedUse::Newest);
        assert_eq!(newest.as_deref(), Some("rove attach"));
    }
}
