//! The user's options for starting a session over ssh.

use std::ffi::OsString;
use std::net::SocketAddr;

use rove_session::JoinMode;
use serde::{Deserialize, Serialize};

use crate::agent::AgentUse;
use crate::choices::Choices;
use crate::install_policy::InstallPolicy;
use crate::program_name::ProgramName;
use crate::session_ref::{SessionLabel, SessionRef, attach_command};
use crate::ssh_config::{self, SshConfig};

/// sh code that lets the user's shell run the next word as a command. Source: ssh(1), on the command.
const IN_LOGIN_SHELL: &str = "exec \"${SHELL:-sh}\" -c \"$0\"";

/// The user's options for starting a session over ssh. The default names neither ssh nor a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostOptions {
    /// The name by which the program was called.
    pub name: ProgramName,
    /// The client program. `None` if the user did not choose.
    pub client: Option<OsString>,
    /// The server command. `None` if the user did not choose.
    pub server: Option<OsString>,
    /// The options for the client.
    pub choices: Choices,
    /// The user's word for the address family, in lower case. It may be an unknown word.
    pub family: String,
    /// The server's UDP port or range of ports, already validated. `None` if the user did not choose.
    pub port: Option<String>,
    /// The address that the server binds.
    pub bind_server: BindServer,
    /// The words of the ssh command, at least one.
    pub ssh: Vec<String>,
    /// Whether ssh requests a pseudo-terminal.
    pub ssh_pty: bool,
    /// Whether to start the server on this computer, without ssh.
    pub local: bool,
    /// When the session's datagrams go through ssh.
    pub tunnel: TunnelUse,
    /// How to find the server's address. `None` if the user did not choose.
    pub remote_ip: Option<RemoteIp>,
    /// The escape key: `None` if the user did not choose, and `Some(None)` if the user disabled it.
    pub escape_key: Option<Option<u8>>,
    /// Whether to print nothing but errors (`--quiet`).
    pub quiet: bool,
    /// Whether to print the steps of the start.
    pub verbose: bool,
    /// How the user controls the use of a forwarded agent.
    pub agent: AgentUse,
    /// Whether rove may be copied to a host that has no server.
    pub install: InstallPolicy,
    /// Whether the client remembers prompts, as hashes, from one session to the next.
    pub prompt_memory: bool,
    /// The host as the user wrote it: `[user@]host`.
    pub host: OsString,
    /// The command for the host, with its arguments. Empty for the login shell.
    pub command: Vec<OsString>,
    /// Whether the session runs no program, and only forwards connections (`-N`).
    pub no_program: bool,
    /// Whether the client of a session without a program goes to the background.
    pub background: bool,
    /// The session to start or to attach to.
    pub session: WantedSession,
    /// The reaction of the login to sessions of the user on the host that have no client.
    pub detached: DetachedUse,
    /// ssh's configuration for the host. `None` before ssh was asked.
    pub config: Option<Box<SshConfig>>,
}

/// The setting `attach`: how a login reacts to sessions of the user that have no client (detached sessions).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DetachedUse {
    /// The login lists the detached sessions on the screen, with the command that attaches to them.
    #[default]
    Hint,
    /// The login asks to which detached session to attach, if there are any.
    Ask,
    /// The login attaches to the newest detached session, or starts a new one if there is none.
    Newest,
    /// The login does not mention detached sessions.
    Never,
}

named!(DetachedUse: "hint" => Hint, "ask" => Ask, "newest" => Newest, "never" => Never);

/// The session that a login starts or attaches to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WantedSession {
    /// The login starts a new session.
    #[default]
    New,
    /// The login attaches to the session with this name, or starts one and gives it the name.
    Named(SessionLabel),
    /// The login attaches to a running session, in this mode. Without a mode, the client takes the session over. If no
    /// session is named, only one may have a client (with a mode) or lack one (without). Or only one may run.
    Attached(Option<SessionRef>, Option<JoinMode>),
    /// The login starts a session without a program, only for a forwarded connection, remote command or file copy.
    Streams(Passage),
    /// The login resumes the session of this server, whose former client ran on this computer and has ended.
    Resumed(SocketAddr, Resumed),
}

/// The streams for which a session without a program is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The remote end of the streams.
    pub joined: Joined,
    /// The hosts of the enclosing `rove -W` processes and of this one, each on a line. A repeated host reveals a loop.
    pub gates: String,
}

/// The remote end to which rove connects its standard input and output, or the files that rove copies to the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Joined {
    /// A host and port, or the path of a socket, to which the session's host connects.
    Port(String),
    /// A program that runs on the session's host.
    Program {
        /// The command in ssh's form. Empty for the login shell. Not serialised: it may be as long as an argument can
        /// be, so the client reads it from a separate environment variable.
        #[serde(skip)]
        command: OsString,
        /// Whether the command names an ssh subsystem.
        is_subsystem: bool,
    },
    /// Standard input and output are not connected. The session copies files from this computer to its host.
    Files {
        /// The session into which the server types the files' paths. Empty for the host's only session.
        session: String,
        /// The files' paths, as bytes because a path need not be text.
        files: Vec<Vec<u8>>,
    },
}

impl Joined {
    /// Returns rove's option or command for this remote end.
    pub const fn feature(&self) -> &'static str {
        match self {
            Self::Port(_) => "rove -W",
            Self::Program { .. } => "rove exec",
            Self::Files { .. } => "rove put",
        }
    }
}

/// The record of a client that has ended. The next client continues from this record, with a new key from the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// The name of the record's files.
    pub record: String,
    /// The file descriptor of the record's lock, held since the record was read.
    pub lock: i32,
    /// The former client, in the text form of [`Former`](rove_session::Former), for the server.
    pub former: String,
    /// How many of the former client's keys the server has received. `None` if the server does not state it.
    pub taken: Option<u64>,
}

/// Lowest port that an ordinary user can bind. Lower ports, such as ssh's, need root. Source: RFC 6335, section 6.
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

    /// Returns the options of `rove` with which another login reaches the host by the same route.
    pub fn way_words(&self) -> Vec<String> {
        let tunnel = self.tunnel.name();
        let mut words = vec![format!("--family={}", self.family), format!("--tunnel={tunnel}")];
        words.extend(self.remote_ip.map(|how| format!("--experimental-remote-ip={}", how.name())));
        words.extend((!self.ssh_pty).then(|| "--no-ssh-pty".to_owned()));
        words
    }

    /// Returns the options with ssh's configuration for the host. A new session without a command gets the one of the
    /// configuration (`RemoteCommand`), which the user's shell runs as for ssh. `None` if there are two commands.
    pub fn configured(&self, mut config: SshConfig) -> Option<Self> {
        let mut options = self.clone();
        let is_new = matches!(self.session, WantedSession::New | WantedSession::Named(_));
        if is_new
            && self.has_program()
            && !config.command.is_subsystem
            && let Some(command) = &config.command.configured
        {
            if !self.command.is_empty() {
                return None;
            }
            options.command = ["sh", "-c", IN_LOGIN_SHELL, command].map(OsString::from).into();
            config.not_carried.retain(|name| *name != "RemoteCommand");
        }
        options.config = Some(config.into());
        Some(options)
    }

    /// Returns whether the session runs a program on a terminal. If not, ssh needs no pseudo-terminal for the login.
    pub const fn has_program(&self) -> bool {
        !self.no_program && !matches!(self.session, WantedSession::Streams(_))
    }

    /// Returns whether the login's ssh stays open, so that it can carry datagrams while UDP does not answer. This
    /// requires a server of rove, which listens on the host's loopback, too.
    pub fn carries_beside(&self) -> bool {
        let is_ours =
            self.name == ProgramName::Rove && self.server.is_none() && self.client.is_none();
        let is_reached = matches!(self.bind_server, BindServer::Open | BindServer::Any);
        let is_asked = self.tunnel == TunnelUse::Auto && !self.local && !self.choices.strict;
        is_asked && is_ours && is_reached && ssh_config::is_ssh(&self.ssh)
    }

    /// Returns whether the session forwards connections if the host's server can. This requires rove's own client, and
    /// an ssh that prints the configured forwards. A client that joins another client's session forwards nothing.
    pub fn forwards(&self) -> bool {
        let is_ours = self.name == ProgramName::Rove && self.client.is_none();
        let is_read = !self.local && ssh_config::is_ssh(&self.ssh);
        let has_streams = !matches!(
            self.session,
            WantedSession::Streams(_) | WantedSession::Attached(_, Some(_))
        );
        is_ours && is_read && has_streams && !self.choices.strict
    }

    /// Returns what this login does about sessions without a client. Only `rove`'s login for a new session with a shell
    /// may ask or attach, and not with `--quiet`. `mosh` has no such setting.
    pub fn detached_use(&self) -> DetachedUse {
        let is_ours = self.name == ProgramName::Rove;
        let is_login = !self.no_program
            && self.session == WantedSession::New
            && self.command.is_empty()
            && !self.choices.strict;
        match self.detached {
            DetachedUse::Never if is_ours => DetachedUse::Never,
            known if is_ours && is_login && !self.quiet => known,
            _ => DetachedUse::Hint,
        }
    }

    /// Returns the command, without the host, that attaches to this login's session again, if the session may have
    /// existed before this login. `None` if the session is new.
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

    /// Returns whether the login shell may start before the client has connected. This requires rove's own client,
    /// whose capabilities the server need not wait for. A command always waits, so that it does not run unseen.
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

    /// Returns the server's UDP port from `-p`. `None` if the user chose none, a range, or port 0.
    pub fn single_port(&self) -> Option<u16> {
        self.port.as_ref()?.parse().ok().filter(|port| *port != 0)
    }

    /// Returns a hint if `rove` got a `-p` below 1024, which the user probably meant as ssh's port. Otherwise `None`.
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

/// When a session's datagrams go through ssh (`--tunnel`).
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

named!(TunnelUse: "true" => Always, "false" => Never, "auto" => Auto);

/// The address that the server binds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BindServer {
    /// A rove server binds any address of the host, and answers from the address to which the client sent. A stock Mosh
    /// server binds the address at which ssh arrived.
    #[default]
    Open,
    /// The server binds the address of the host at which ssh arrived.
    Ssh,
    /// The server binds any address of the host.
    Any,
    /// The server binds the address that the user gave.
    Address(String),
}

/// How the client finds the server's address (`--experimental-remote-ip`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteIp {
    /// rove's own proxy command, which connects on behalf of ssh, prints the server's address.
    Proxy,
    /// The server's host prints its variable `SSH_CONNECTION`.
    Remote,
    /// The host's name is resolved on this computer.
    Local,
}

named!(RemoteIp: "proxy" => Proxy, "remote" => Remote, "local" => Local);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sharing::Sharing;

    #[test]
    fn a_new_session_without_a_command_gets_the_one_of_sshs_configuration() {
        let config = |command: &str| {
            let answer = format!("remotecommand {command}\nforwardx11 yes\n");
            ssh_config::parse(&answer, |_| Sharing::Unknown)
        };
        let login = HostOptions::default();
        let new = login.configured(config("tmux a")).unwrap();
        assert_eq!(new.command, ["sh", "-c", IN_LOGIN_SHELL, "tmux a"]);
        assert_eq!(new.config.map(|it| it.not_carried), Some(vec!["ForwardX11"]));
        let named = HostOptions { command: vec!["ls".into()], ..login.clone() };
        assert_eq!(named.configured(config("tmux a")), None);
        assert_eq!(named.configured(config("none")).map(|it| it.command), Some(named.command));
        let attached = WantedSession::Attached(None, None);
        for other in [
            HostOptions { no_program: true, ..login.clone() },
            HostOptions { session: attached, ..login },
        ] {
            let configured = other.configured(config("tmux a")).unwrap();
            assert!(configured.command.is_empty(), "{other:?}");
        }
    }

    #[test]
    fn only_a_login_of_a_new_shell_is_about_sessions_without_a_client() {
        use DetachedUse::{Ask, Hint, Never, Newest};
        let login = |detached| HostOptions { detached, ..HostOptions::default() };
        for use_ in [Hint, Ask, Newest, Never] {
            assert_eq!(login(use_).detached_use(), use_);
            assert_eq!(DetachedUse::from_name(use_.name()), Some(use_));
            let command = HostOptions { command: vec!["ls".into()], ..login(use_) };
            let mosh = HostOptions { name: ProgramName::Mosh, ..login(use_) };
            let config = ssh_config::parse("remotecommand top\n", |_| Sharing::Unknown);
            let configured = login(use_).configured(config).unwrap();
            let named = WantedSession::Named("work".parse().unwrap());
            let named = HostOptions { session: named, ..login(use_) };
            let mut strict = login(use_);
            strict.choices.strict = true;
            assert_eq!(mosh.detached_use(), Hint);
            for other in [command, configured, named, strict] {
                let wanted = if use_ == Never { Never } else { Hint };
                assert_eq!(other.detached_use(), wanted, "{other:?}");
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
            (WantedSession::Resumed(([0; 4], 1).into(), resumed), Some("rove resume")),
        ] {
            assert_eq!(by(session, DetachedUse::Hint).as_deref(), command);
        }
        let newest = by(WantedSession::New, DetachedUse::Newest);
        assert_eq!(newest.as_deref(), Some("rove attach"));
    }
}
