//! An ssh connection (`ControlMaster`) that one run of rove opens for itself. The user thus logs in once, even if the
//! run looks for a server, copies rove to the host and starts it.
//!
//! The ssh that looks for a server is the master. If the host has no server program, this ssh keeps running, and its
//! command waits on the host. The connection's socket is in the folder of rove's control sockets, which only the user
//! may enter. After rove was copied to the host, the command searches again, and this ssh can carry the session.
//! Otherwise this ssh ends with the run. Ctrl-C also ends this ssh, which is in the terminal's foreground.

use std::io;
use std::path::PathBuf;

use rove_bootstrap::{HostOptions, InstallPolicy, ProgramName, Shared, Sharing, ssh_config};
use rove_platform::clock::Clock;
use rove_platform::event_loop::EventLoop;
use rustix::fs::{Access, access};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::SIGCHLD;

use crate::bootstrap::launch::Waiting;
use crate::bootstrap::sharing;
use crate::question;

/// Longest path of the socket of a run's own ssh connection, in bytes. Chosen: the limit of a BSD (103) minus the
/// suffix (17) that ssh adds to the name of a socket that is not ready.
const PATH_BYTES_MAX: usize = 103 - 17;

/// An ssh connection that this run of rove has for itself.
pub(crate) struct Master {
    path: PathBuf,
    /// The ssh that keeps the connection open, or `None` if there is no connection.
    ssh: Option<Box<Waiting>>,
    addresses: Vec<String>,
    /// The modes of the user's terminal before ssh changed them. `None` without a terminal.
    modes: Option<Termios>,
}

impl Master {
    /// Prepares a connection for a run of `rove` that may copy rove to the host. `None` for other runs, and for
    /// programs other than OpenSSH's ssh. Also `None` without a short path in a writable directory of the user alone.
    pub(crate) fn prepare(options: &HostOptions) -> Option<Self> {
        let may_copy = match options.install {
            InstallPolicy::Always => true,
            InstallPolicy::Ask => question::can_be_asked(),
            InstallPolicy::Never => false,
        };
        let is_ours = options.name == ProgramName::Rove && !options.local;
        if !may_copy || !is_ours || options.server.is_some() || !ssh_config::is_ssh(&options.ssh) {
            return None;
        }
        let path = rove_control::private_socket("ssh")?;
        access(path.parent()?, Access::WRITE_OK | Access::EXEC_OK).ok()?;
        let is_short = path.as_os_str().len() <= PATH_BYTES_MAX;
        let sharing = path.to_str().filter(|_| is_short).map(sharing::judge)?;
        let is_free = sharing == Sharing::Trusted { is_open: false };
        let modes = tcgetattr(io::stdin()).ok();
        is_free.then(|| Self { path, ssh: None, addresses: Vec::new(), modes })
    }

    /// Keeps the connection open by keeping `waiting`, whose command waits on the host.
    pub(super) fn keep(&mut self, waiting: Box<Waiting>) {
        self.addresses = waiting.addresses();
        self.ssh = Some(waiting);
        // ssh has made the terminal raw for its command, but the next step asks the user a question.
        if let Some(modes) = &self.modes {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, modes);
        }
    }

    /// Returns the ssh that keeps the connection open, or `None` if its command cannot search the host again. No other
    /// ssh can share the connection from then on.
    pub(super) fn take_waiting(&mut self) -> Option<Box<Waiting>> {
        let waiting = self.ssh.take_if(|waiting| waiting.plan.carries)?;
        self.abandon();
        Some(waiting)
    }

    /// Removes the connection's socket, so that no other ssh goes through the connection.
    pub(crate) fn abandon(&self) {
        let _ = std::fs::remove_file(&self.path);
    }

    pub(crate) const fn is_open(&self) -> bool {
        self.ssh.is_some()
    }

    /// Returns the host's addresses; empty if the connection is not open or they are unknown.
    pub(crate) fn addresses(&self) -> &[String] {
        &self.addresses
    }

    /// Returns how the next ssh opens or shares this connection.
    pub(crate) fn shared(&self) -> Shared {
        Shared { path: self.path.clone(), is_open: self.is_open() }
    }
}

impl Drop for Master {
    fn drop(&mut self) {
        let Some(mut waiting) = self.ssh.take() else { return };
        // An ssh that does not end when asked is killed when `waiting` is dropped.
        if let Ok(mut events) = EventLoop::new(Clock::start(), &[SIGCHLD]) {
            waiting.ssh.end(&mut events);
        }
        drop(waiting);
        let _ = std::fs::remove_file(&self.path);
    }
}
