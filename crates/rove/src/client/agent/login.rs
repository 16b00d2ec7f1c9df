//! The ssh process that forwards the agent, the socket by which it reaches the host, and the client's agent socket.

use std::io;
use std::os::fd::OwnedFd;

use rove_bootstrap::{AgentUse, LentAgent, quote, ssh_config};
use rove_platform::event_loop::Interest;
use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use super::agent_socket::AgentSocket;
use crate::agent::socket::PrivateSocket;
use crate::ssh_process::{SshProcess, split_lines};

/// Most bytes of ssh's output that are read at a time. Chosen: several times the length of a path.
const READ_LEN: usize = 4096;

/// Most characters shown of ssh's last message. Chosen: the room that rove's own words leave in the notice bar.
const SAID_CHARS_MAX: usize = 100;

/// The options that rove puts before the user's options, for an ssh that only forwards the agent. This ssh sends no
/// keepalives, because the session that carries it may sleep.
const OPTIONS: [&str; 6] = [
    "ClearAllForwardings=yes",
    "ForwardX11=no",
    "PermitLocalCommand=no",
    "ServerAliveInterval=0",
    "ProxyUseFdpass=yes",
    "Tunnel=no",
];

/// The facts needed to forward the agent to the host. They were found at the start of the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentCall {
    /// The words of an ssh that asks the user nothing. Its remote command prints the agent socket's path on the host.
    pub(crate) words: Vec<String>,
    /// The beginning of the line in which the remote command prints the path of ssh's agent socket.
    pub(crate) mark: String,
    pub(crate) agent: LentAgent,
    /// Whether the user is told of each use of a key, or is asked for permission first.
    pub(crate) how: AgentUse,
    /// The `known_hosts` files of ssh. The client finds in them the name of the host that a signature is for.
    #[serde(default)]
    pub(crate) known_hosts: Vec<String>,
}

/// A running ssh that forwards the agent, or is logging in to do so.
#[derive(Debug)]
pub(super) struct Login {
    ssh: SshProcess,
    /// The beginning of the line with the socket's path. `None` after that line was read.
    mark: Option<String>,
    line: Vec<u8>,
    /// The client's socket to which ssh's proxy command connects, so that ssh reaches the host through a stream.
    way: PrivateSocket,
    /// The agent socket that ssh forwards.
    pub(super) agent: AgentSocket,
}

/// The change in a login that [`Login::look`] has found.
#[derive(Debug)]
pub(super) enum Look {
    Nothing,
    /// The ssh has logged in, and this is the path of its agent socket on the host.
    Path(String),
    /// The ssh has ended, for this reason.
    Ended(String),
    /// The host's sshd does not forward agents.
    Forbidden,
}

impl Login {
    /// Opens the agent socket that ssh forwards, and the socket by which ssh reaches the host. Then starts ssh.
    ///
    /// # Errors
    ///
    /// Returns why no agent can be forwarded, in words for the user.
    pub(super) fn start(call: &AgentCall) -> io::Result<Self> {
        let (agent, way) = (AgentSocket::open(&call.agent)?, PrivateSocket::open("way")?);
        let ssh = SshProcess::start(&words(call, &way, &agent), false)?;
        Ok(Self { ssh, mark: Some(call.mark.clone()), line: Vec::new(), way, agent })
    }

    /// Accepts a connection by which ssh wants to reach the host. `None` if no connection waits.
    pub(super) fn accept(&mut self) -> Option<OwnedFd> {
        self.way.accept()
    }

    /// Reads ssh's two output streams, and returns the change in the login that they show.
    pub(super) fn look(&mut self) -> Look {
        self.ssh.read_errors(|_| (), |_| ());
        let (mut path, mark) = (None, &mut self.mark);
        let mut buffer = [0; READ_LEN];
        let len = self.ssh.read(&mut buffer).ok().flatten().unwrap_or_default();
        split_lines(&mut self.line, &buffer[..len], |line| {
            if let Some(found) = mark.as_deref().and_then(|mark| line.strip_prefix(mark)) {
                path = Some(found.trim().to_owned());
                *mark = None;
            }
        });
        match path {
            Some(path) if path.starts_with('/') => return Look::Path(path),
            Some(_) => return Look::Forbidden,
            None => {}
        }
        // ssh may write another error line until it has closed both pipes.
        if self.ssh.is_silent() {
            return Look::Ended(self.reason());
        }
        Look::Nothing
    }

    /// Returns the descriptors to wait for. When one is ready, call [`Login::look`] and [`Login::accept`].
    pub(super) fn interests(&self) -> impl Iterator<Item = Interest<'_>> {
        self.way.interest().into_iter().chain(self.ssh.interests(false))
    }

    /// Returns why ssh has ended, with its last error line if there is one.
    fn reason(&mut self) -> String {
        let said = self.ssh.said(SAID_CHARS_MAX);
        match said.is_empty() {
            true => "ssh cannot log in once more without a question".to_owned(),
            false => format!("ssh cannot log in once more without a question: {said}"),
        }
    }
}

impl Drop for Login {
    fn drop(&mut self) {
        self.ssh.signal(Signal::KILL);
    }
}

/// Returns the argument vector of an ssh that reaches the host through `way`, and forwards the agent at `agent`.
fn words(call: &AgentCall, way: &PrivateSocket, agent: &AgentSocket) -> Vec<String> {
    let ourselves = std::env::current_exe().unwrap_or_else(|_| "rove".into());
    let proxy = [quote::bourne(ourselves.as_os_str()), quote::bourne(way.path().as_os_str())];
    let [program, path] = proxy.map(|word| word.to_string_lossy().replace('%', "%%"));
    let own = [
        format!("ProxyCommand={program} --fake-proxy -- {path} 0"),
        format!("ForwardAgent=\"{}\"", agent.path().display()),
    ];
    let options = OPTIONS.iter().map(|it| (*it).to_owned()).chain(own);
    let options: Vec<String> = options.flat_map(|it| ["-o".to_owned(), it]).collect();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    ssh_config::with_options(&call.words, &options)
}
