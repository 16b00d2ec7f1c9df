//! A connection of ssh's that one run of rove has for itself (`ControlMaster`), so that the user logs in once for all that
//! the run does on the host: it looks for a server, copies rove there, and starts it.
//!
//! The ssh that looks for a server is the master. It stays only where there is none, while its command waits on the host.
//! Its socket is in the folder of the control sockets, which only the user may enter, and it ends with the run: with
//! the terminal's Ctrl-C, as it is in the foreground, and where rove was killed because nobody reads its output
//! (`remote::searching`).

use std::io;
use std::path::PathBuf;

use rove_bootstrap::{HostOptions, InstallPolicy, ProgramName, Shared, Sharing, ssh_config};
use rove_platform::clock::Clock;
use rove_platform::event_loop::EventLoop;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::SIGCHLD;

use crate::bootstrap::command::Running;
use crate::bootstrap::sharing;
use crate::question;

/// Longest path of a socket, in bytes. Chosen: what a BSD allows (103), without what ssh adds to the name of a socket
/// that is not ready (17).
const PATH_BYTES_MAX: usize = 103 - 17;

/// A connection of the run's own.
pub(crate) struct Master {
    path: PathBuf,
    /// The ssh that has it open.
    ssh: Option<Box<Running>>,
    /// The host's addresses, if our proxy command has told them.
    addresses: Vec<String>,
    /// The modes of the user's terminal before any ssh has changed them.
    modes: Option<Termios>,
}

impl Master {
    /// Prepares one for a run that may have more to do on a host than to start a server. There is none for a program that
    /// is not OpenSSH's, and where there is no place for its socket that only the user controls.
    pub(crate) fn prepare(options: &HostOptions) -> Option<Self> {
        let may_copy = match options.install {
            InstallPolicy::Always => true,
            InstallPolicy::Ask => question::can_be_asked(),
            InstallPolicy::Never => false,
        };
        let is_ours = options.name == ProgramName::Rove && !options.local && !options.tunnel;
        if !may_copy || !is_ours || options.server.is_some() || !ssh_config::is_ssh(&options.ssh) {
            return None;
        }
        let path = rove_control::private_socket()?;
        let is_short = path.as_os_str().len() <= PATH_BYTES_MAX;
        let sharing = path.to_str().filter(|_| is_short).map(sharing::judge)?;
        let is_free = sharing == Sharing::Trusted { is_open: false };
        let modes = tcgetattr(io::stdin()).ok();
        is_free.then(|| Self { path, ssh: None, addresses: Vec::new(), modes })
    }

    /// Keeps it open, by an ssh whose command waits. The host has these addresses, as far as they are known.
    pub(crate) fn keep(&mut self, ssh: Box<Running>, addresses: Vec<String>) {
        self.ssh = Some(ssh);
        self.addresses = addresses;
        // For the command on the host, ssh has made the terminal raw; the user is asked next.
        if let Some(modes) = &self.modes {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, modes);
        }
    }

    pub(crate) const fn is_open(&self) -> bool {
        self.ssh.is_some()
    }

    /// Returns the host's addresses; none where it is not open, or they are not known.
    pub(crate) fn addresses(&self) -> &[String] {
        &self.addresses
    }

    /// Returns how the next ssh shares it.
    pub(crate) fn shared(&self) -> Shared {
        Shared { path: self.path.clone(), is_open: self.is_open() }
    }
}

impl Drop for Master {
    fn drop(&mut self) {
        let Some(mut ssh) = self.ssh.take() else { return };
        // An ssh that does not end when it is asked is killed when it is dropped.
        if let Ok(mut events) = EventLoop::new(Clock::start(), &[SIGCHLD]) {
            ssh.end(&mut events);
        }
        drop(ssh);
        let _ = std::fs::remove_file(&self.path);
    }
}
