//! An sshd with keys of its own, at a free port of a place.

use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, ensure};
use rustix::net::{Shutdown, shutdown};

use crate::place::Place;
use crate::scratch::Scratch;

/// Where sshd is on every Debian; it wants to be called by its whole path.
pub const SSHD: &str = "/usr/sbin/sshd";

/// Connections of one sshd, one after another or at once. Chosen: more than any measurement makes.
const CONNECTIONS_MAX: usize = 16;

/// A far computer. It answers until it is dropped, one process per connection.
#[derive(Debug)]
pub struct Sshd {
    scratch: Scratch,
    listener: TcpListener,
    /// `None` once it has been waited for.
    acceptor: Option<JoinHandle<()>>,
}

impl Sshd {
    /// Starts one.
    ///
    /// # Errors
    ///
    /// Returns what the system refuses.
    pub fn start(place: Place<'_>) -> Result<Self> {
        let scratch = Scratch::create()?;
        for name in ["host_key", "user_key"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-C", "rove lab", "-f"])
                .arg(scratch.path(name))
                .status()
                .context("cannot start ssh-keygen")?;
            ensure!(made.success(), "ssh-keygen made no {name}");
        }
        let listener = place.listen()?;
        let config = configure(&scratch, listener.local_addr()?)?;
        // As root, sshd wants this folder; the system makes it when it starts its own sshd.
        let _ = std::fs::create_dir_all("/run/sshd");
        // Commands are made ready here: a testbed lends itself to no thread.
        let commands = (0..CONNECTIONS_MAX).map(|_| serve(place, &config));
        let commands = commands.collect::<Result<Vec<_>>>()?;
        let accepting = listener.try_clone()?;
        let acceptor = thread::Builder::new().name("sshd".into()).spawn(move || {
            // An sshd in a testbed is killed with the thread that started it, so this one waits for them.
            let mut started = Vec::new();
            for mut command in commands {
                let Ok((connection, _)) = accepting.accept() else { break };
                let input = OwnedFd::from(connection);
                let Ok(output) = input.try_clone() else { break };
                command.stdin(Stdio::from(input)).stdout(Stdio::from(output));
                started.extend(command.spawn());
            }
            for mut child in started {
                // It has usually ended with its connection.
                let _ = child.kill();
                let _ = child.wait();
            }
        });
        let acceptor = acceptor.context("cannot start a thread")?;
        Ok(Self { scratch, listener, acceptor: Some(acceptor) })
    }

    /// Returns the command line of an ssh that knows this computer as `far`.
    pub fn ssh(&self) -> String {
        format!("ssh -F {}", self.client_config().display())
    }

    /// Returns the configuration of an ssh client that knows this computer as `far`.
    pub fn client_config(&self) -> PathBuf {
        self.scratch.path("ssh_config")
    }

    /// Returns a folder that may be a home.
    pub fn home(&self) -> &Path {
        self.scratch.folder()
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        // The thread waits for a connection, which from now on fails.
        let _ = shutdown(&self.listener, Shutdown::Both);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

/// Writes the configurations of both sides; returns the server's.
fn configure(scratch: &Scratch, address: SocketAddr) -> Result<PathBuf> {
    let (folder, ip, port) = (scratch.folder().display(), address.ip(), address.port());
    scratch.keep(
        "ssh_config",
        format!(
            "Host far\n HostName {ip}\n Port {port}\n IdentityFile {folder}/user_key\n \
             IdentitiesOnly yes\n BatchMode yes\n UserKnownHostsFile {folder}/known\n \
             StrictHostKeyChecking accept-new\n LogLevel ERROR\n"
        )
        .as_bytes(),
    )?;
    scratch.keep(
        "sshd_config",
        format!(
            "HostKey {folder}/host_key\nAuthorizedKeysFile {folder}/user_key.pub\n\
             StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n\
             KbdInteractiveAuthentication no\nPrintMotd no\nPrintLastLog no\nPidFile none\n"
        )
        .as_bytes(),
    )
}

/// Prepares the process of one connection.
fn serve(place: Place<'_>, config: &Path) -> Result<Command> {
    let mut command = place.command(SSHD)?;
    command.arg("-i").arg("-f").arg(config).stderr(Stdio::null());
    Ok(command)
}
