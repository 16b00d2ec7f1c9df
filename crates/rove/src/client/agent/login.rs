//! The ssh process that lends the agent, the socket through which it reaches the host, and the agent socket that it
//! forwards.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};

use rove_bootstrap::{AgentUse, LentAgent, quote, ssh_config};
use rove_platform::event_loop::Interest;
use rustix::io::{Errno, ioctl_fionbio, read};
use serde::{Deserialize, Serialize};

use super::agent_socket::AgentSocket;
use crate::agent::socket::PrivateSocket;

/// Most bytes of a line of ssh's output that are kept. Chosen: several times a path.
const LINE_MAX: usize = 1024;

/// Most characters of ssh's last message that the user sees. Chosen: the room in the notice bar beside rove's own
/// words.
const SAID_CHARS_MAX: usize = 100;

/// The options, in front of the user's, of an ssh that only lends the agent. It sends no keepalives, because the
/// session that carries it may sleep.
const OPTIONS: [&str; 6] = [
    "ClearAllForwardings=yes",
    "ForwardX11=no",
    "PermitLocalCommand=no",
    "ServerAliveInterval=0",
    "ProxyUseFdpass=yes",
    "Tunnel=no",
];

/// How to lend the agent, as found out at the start of the session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentCall {
    /// The argument vector of an ssh that asks the user nothing. Its remote command prints the path of ssh's agent
    /// socket on the host.
    pub(crate) words: Vec<String>,
    /// The beginning of the line in which the remote command prints its socket's path.
    pub(crate) mark: String,
    /// The agent to lend.
    pub(crate) agent: LentAgent,
    /// Whether the user is notified of each use, or asked.
    pub(crate) how: AgentUse,
    /// The `known_hosts` files of ssh. The client finds in them the name of the host that a signature is for.
    #[serde(default)]
    pub(crate) known_hosts: Vec<String>,
}

/// A running ssh that lends the agent.
#[derive(Debug)]
pub(super) struct Login {
    ssh: Child,
    /// The read ends of ssh's standard output and error output. Each is `None` after ssh has closed it.
    output: Option<ChildStdout>,
    errors: Option<ChildStderr>,
    /// The beginning of the line with the socket's path. `None` after that line was read.
    mark: Option<String>,
    line: Vec<u8>,
    /// The last complete error line of ssh, except empty and debug lines. `error_line` is the incomplete next line.
    said: Vec<u8>,
    error_line: Vec<u8>,
    /// The socket at which the client accepts the connection by which ssh reaches the host.
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
    /// Opens both sockets and starts an ssh.
    ///
    /// # Errors
    ///
    /// Returns why no agent can be lent, in words for the user.
    pub(super) fn start(call: &AgentCall) -> io::Result<Self> {
        let (agent, way) = (AgentSocket::open(&call.agent)?, PrivateSocket::open("way")?);
        let words = words(call, &way, &agent);
        let (program, args) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        // A process group of its own protects ssh from the terminal's SIGHUP and from the client's suspension.
        let mut command = Command::new(program);
        command.args(args).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut ssh = command.spawn()?;
        let (output, errors) = (ssh.stdout.take(), ssh.stderr.take());
        let output = output.ok_or(io::ErrorKind::InvalidData)?;
        let errors = errors.ok_or(io::ErrorKind::InvalidData)?;
        ioctl_fionbio(&output, true)?;
        ioctl_fionbio(&errors, true)?;
        Ok(Self {
            ssh,
            output: Some(output),
            errors: Some(errors),
            mark: Some(call.mark.clone()),
            line: Vec::new(),
            said: Vec::new(),
            error_line: Vec::new(),
            way,
            agent,
        })
    }

    /// Accepts a connection by which ssh wants to reach the host, if one is waiting.
    pub(super) fn accept(&mut self) -> Option<OwnedFd> {
        self.way.accept()
    }

    /// Reads ssh's output and error output, and returns the change that they show.
    pub(super) fn look(&mut self) -> Look {
        read_lines(&mut self.errors, &mut self.error_line, |line| {
            if !line.starts_with(b"debug") && !line.is_empty() {
                self.said = line.to_vec();
            }
        });
        let mut path = None;
        let mark = &mut self.mark;
        read_lines(&mut self.output, &mut self.line, |line| {
            let line = String::from_utf8_lossy(line);
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
        if self.output.is_none() && self.errors.is_none() {
            return Look::Ended(self.reason());
        }
        Look::Nothing
    }

    /// Returns the descriptors to wait for. When one is ready, call [`Login::look`] and [`Login::accept`].
    pub(super) fn interests(&self) -> impl Iterator<Item = Interest<'_>> {
        let way = self.way.interest();
        let output = self.output.iter().map(AsFd::as_fd);
        let output = output.chain(self.errors.iter().map(AsFd::as_fd));
        way.into_iter().chain(output.map(|it| Interest::new(it, true, false)))
    }

    /// Returns why ssh has ended, with its last error line if there is one.
    fn reason(&self) -> String {
        let said = rove_terminal::plain(&String::from_utf8_lossy(&self.said));
        let said: String = said.chars().take(SAID_CHARS_MAX).collect();
        match said.is_empty() {
            true => "ssh cannot log in once more without a question".to_owned(),
            false => format!("ssh cannot log in once more without a question: {said}"),
        }
    }
}

impl Drop for Login {
    fn drop(&mut self) {
        if matches!(self.ssh.try_wait(), Ok(None)) && self.ssh.kill().is_ok() {
            let _ = self.ssh.wait();
        }
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

/// Reads the available bytes, and passes complete lines to `take`. A source that has ended becomes `None`.
fn read_lines<T: AsFd>(from: &mut Option<T>, line: &mut Vec<u8>, mut take: impl FnMut(&[u8])) {
    let mut buffer = [0; LINE_MAX];
    while let Some(source) = from {
        match read(source, &mut buffer) {
            Ok(count) if count > 0 => {
                for byte in &buffer[..count] {
                    match byte {
                        b'\n' => {
                            take(line.trim_ascii_end());
                            line.clear();
                        }
                        _ if line.len() < LINE_MAX => line.push(*byte),
                        _ => {}
                    }
                }
            }
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return,
            Ok(_) | Err(_) => *from = None,
        }
    }
}
