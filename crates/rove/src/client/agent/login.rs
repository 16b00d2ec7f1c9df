//! The ssh that lends the agent: its process, the way to the host that it is given, and the agent that it forwards.

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

/// Most characters that are told of ssh's last message. Chosen: the room in the notice bar beside our own words.
const SAID_CHARS_MAX: usize = 100;

/// The options of an ssh that does nothing but to lend the agent, before the user's own. It comes through a session that
/// may sleep, so it does not ask whether the host is there.
const OPTIONS: [&str; 6] = [
    "ClearAllForwardings=yes",
    "ForwardX11=no",
    "PermitLocalCommand=no",
    "ServerAliveInterval=0",
    "ProxyUseFdpass=yes",
    "Tunnel=no",
];

/// How ssh lends the agent, as the start of the session has found out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentCall {
    /// The argument vector of an ssh that asks the user nothing, and tells where its agent's socket is.
    pub(crate) words: Vec<String>,
    /// The beginning of the line that tells it.
    pub(crate) mark: String,
    /// The agent that is lent.
    pub(crate) agent: LentAgent,
    /// How the user learns of its use.
    pub(crate) how: AgentUse,
}

/// A running ssh.
#[derive(Debug)]
pub(super) struct Login {
    ssh: Child,
    /// These are `None` after their end.
    output: Option<ChildStdout>,
    errors: Option<ChildStderr>,
    /// The beginning of the line that tells the socket's path; `None` after it.
    mark: Option<String>,
    line: Vec<u8>,
    /// The last line of ssh's error output, and the part of the next one.
    said: Vec<u8>,
    error_line: Vec<u8>,
    /// The socket through which ssh reaches the host.
    way: PrivateSocket,
    /// The socket that ssh takes for the agent.
    pub(super) agent: AgentSocket,
}

/// News of an ssh.
#[derive(Debug)]
pub(super) enum Look {
    Nothing,
    /// The ssh has logged in, and this is the path of its socket on the host.
    Path(String),
    /// The ssh has ended, for this reason.
    Ended(String),
    /// The host's sshd does not forward agents.
    Forbidden,
}

impl Login {
    /// Starts an ssh.
    ///
    /// # Errors
    ///
    /// Returns why no agent can be lent, in words for the user.
    pub(super) fn start(call: &AgentCall) -> io::Result<Self> {
        let (agent, way) = (AgentSocket::open(&call.agent)?, PrivateSocket::open("way")?);
        let words = words(call, &way, &agent);
        let (program, args) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        // A process group of its own keeps ssh from the terminal's hang-up and from the client's suspension.
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

    /// Returns a connection that ssh makes to the host, if one waits.
    pub(super) fn accept(&mut self) -> Option<OwnedFd> {
        self.way.accept()
    }

    /// Reads what ssh says.
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
        // The reason comes before the end of the error output.
        if self.output.is_none() && self.errors.is_none() {
            return Look::Ended(self.reason());
        }
        Look::Nothing
    }

    /// Returns the descriptors whose news call for [`Login::look`] and [`Login::accept`].
    pub(super) fn interests(&self) -> impl Iterator<Item = Interest<'_>> {
        let way = self.way.interest();
        let output = self.output.iter().map(AsFd::as_fd);
        let output = output.chain(self.errors.iter().map(AsFd::as_fd));
        way.into_iter().chain(output.map(|it| Interest::new(it, true, false)))
    }

    /// Returns why ssh has ended, as far as it has said.
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
        // These fail if ssh has ended before.
        let _ = self.ssh.kill();
        let _ = self.ssh.wait();
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

/// Reads what has come, and hands over complete lines. A source that has ended is dropped.
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
