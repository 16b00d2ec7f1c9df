//! An sshd with its own keys, at a free port of a place.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, ensure};
use rustix::net::{Shutdown, shutdown};

use crate::place::Place;
use crate::scratch::Scratch;

/// The path of sshd in Debian. sshd must be started by its full path.
pub const SSHD: &str = "/usr/sbin/sshd";

/// Most connections of an sshd in its life. Chosen: more than any measurement makes.
const CONNECTIONS_MAX: usize = 16;

/// An ssh server with its own keys, and a process for each connection. Dropping this value ends it.
#[derive(Debug)]
pub struct Sshd {
    /// The folder with the server's keys and configuration files. It can also serve as a home folder.
    pub scratch: Scratch,
    /// The processes of all connections since the server's start.
    pub connections: Arc<Mutex<Vec<Child>>>,
    /// The socket at which the server listens.
    pub listener: TcpListener,
    /// The thread that accepts connections. `None` after the thread has ended.
    acceptor: Option<JoinHandle<()>>,
}

impl Sshd {
    /// Starts a server at a free port of a place.
    ///
    /// # Errors
    ///
    /// Returns the system's error.
    pub fn start(place: Place<'_>) -> Result<Self> {
        Self::start_with(place, "")
    }

    /// Starts a server with the lines `more` in its configuration.
    ///
    /// # Errors
    ///
    /// Returns the system's error.
    pub fn start_with(place: Place<'_>, more: &str) -> Result<Self> {
        let scratch = Scratch::create()?;
        let listener = place.listen()?;
        let config = prepare(&scratch, listener.local_addr()?, more)?;
        // The commands are prepared in this thread, because a testbed cannot be passed to the other thread.
        let command = |_| Ok(with_config(place.command(SSHD)?, &config));
        let commands = (0..CONNECTIONS_MAX).map(command).collect::<Result<Vec<_>>>()?;
        Self::serve(scratch, listener, commands.into_iter())
    }

    /// Starts a server in a [prepared](prepare) folder. Each connection is served by the next command of `commands`.
    ///
    /// # Errors
    ///
    /// Returns an error as [`Sshd::start`] does.
    pub fn serve(
        scratch: Scratch,
        listener: TcpListener,
        commands: impl Iterator<Item = Command> + Send + 'static,
    ) -> Result<Self> {
        let (connections, accepting) = (Arc::<Mutex<Vec<Child>>>::default(), listener.try_clone()?);
        let all = Arc::clone(&connections);
        let acceptor = thread::Builder::new().name("sshd".into()).spawn(move || {
            for mut command in commands {
                let Ok((connection, _)) = accepting.accept() else { break };
                let input = OwnedFd::from(connection);
                let Ok(output) = input.try_clone() else { break };
                command.stdin(Stdio::from(input)).stdout(Stdio::from(output));
                let child = command.stderr(Stdio::null()).spawn();
                all.lock().expect("no holder of the lock panics").extend(child);
            }
            // An sshd in a testbed dies with the thread that started it, so the thread stays until `end` is called.
            while accepting.accept().is_ok() {}
            for child in all.lock().expect("no holder of the lock panics").iter_mut() {
                // The sshd has usually ended together with its connection.
                let _ = child.kill();
                let _ = child.wait();
            }
        });
        let acceptor = Some(acceptor.context("cannot start a thread")?);
        Ok(Self { scratch, connections, listener, acceptor })
    }

    /// Returns the command line of an ssh for which `far` is this server.
    pub fn ssh(&self) -> String {
        format!("ssh -F {}", self.client_config().display())
    }

    /// Returns the path of the ssh configuration in which `far` is this server.
    pub fn client_config(&self) -> PathBuf {
        self.scratch.path("ssh_config")
    }

    /// Ends all connections, and accepts no further connection.
    pub fn end(&mut self) {
        // The thread waits in `accept`, which fails after this call.
        let _ = shutdown(&self.listener, Shutdown::Both);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.end();
    }
}

/// Creates the keys of an sshd at `address`, and the configuration files of ssh and sshd. Adds the lines `more` to
/// sshd's configuration file. Returns its path.
///
/// # Errors
///
/// Returns the system's error.
pub fn prepare(scratch: &Scratch, address: SocketAddr, more: &str) -> Result<PathBuf> {
    for name in ["host_key", "user_key"] {
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-C", "rove rig", "-f"])
            .arg(scratch.path(name))
            .status()
            .context("cannot start ssh-keygen")?;
        ensure!(made.success(), "ssh-keygen made no {name}");
    }
    // An sshd that root runs needs this folder. The system creates it only for its own sshd.
    let _ = fs::create_dir_all("/run/sshd");
    let (folder, ip, port) = (scratch.folder().display(), address.ip(), address.port());
    let client = format!(
        "Host far\n HostName {ip}\n Port {port}\n IdentityFile {folder}/user_key\n \
         IdentitiesOnly yes\n BatchMode yes\n UserKnownHostsFile {folder}/known\n \
         StrictHostKeyChecking accept-new\n LogLevel ERROR\n"
    );
    scratch.keep("ssh_config", client.as_bytes())?;
    let server = format!(
        "HostKey {folder}/host_key\nAuthorizedKeysFile {folder}/user_key.pub\n\
         StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n\
         KbdInteractiveAuthentication no\nPrintMotd no\nPrintLastLog no\nPidFile none\n{more}"
    );
    scratch.keep("sshd_config", server.as_bytes())
}

/// Makes this sshd command serve a single connection with the configuration file `config`.
pub fn with_config(mut sshd: Command, config: &Path) -> Command {
    sshd.arg("-i").arg("-f").arg(config);
    sshd
}
