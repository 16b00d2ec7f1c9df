//! An sshd on a loopback port, with keys of its own.

use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::scratch::Scratch;

/// Where sshd is on every Debian; it wants to be called by its whole path.
const SSHD: &str = "/usr/sbin/sshd";

/// A far computer. It answers until the run ends, one process per connection.
#[derive(Debug)]
pub(super) struct Sshd {
    scratch: Scratch,
}

impl Sshd {
    /// Starts one.
    ///
    /// # Errors
    ///
    /// Returns what the system refuses.
    pub(super) fn start() -> Result<Self> {
        let scratch = Scratch::new()?;
        for name in ["host_key", "user_key"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-C", "rove bench", "-f"])
                .arg(scratch.path().join(name))
                .status()
                .context("cannot start ssh-keygen")?;
            ensure!(made.success(), "ssh-keygen made no {name}");
        }
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let port = listener.local_addr()?.port();
        let folder = scratch.path().display();
        scratch.write(
            "ssh_config",
            format!(
                "Host far\n HostName 127.0.0.1\n Port {port}\n IdentityFile {folder}/user_key\n \
                 IdentitiesOnly yes\n BatchMode yes\n UserKnownHostsFile {folder}/known\n \
                 StrictHostKeyChecking accept-new\n LogLevel ERROR\n"
            )
            .as_bytes(),
        )?;
        let config = scratch.write(
            "sshd_config",
            format!(
                "HostKey {folder}/host_key\nAuthorizedKeysFile {folder}/user_key.pub\n\
                 StrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n\
                 KbdInteractiveAuthentication no\nPrintMotd no\nPidFile none\n"
            )
            .as_bytes(),
        )?;
        // As root, sshd wants this folder; the system makes it when it starts its own sshd.
        let _ = std::fs::create_dir_all("/run/sshd");
        std::thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let input = OwnedFd::from(connection);
                let Ok(output) = input.try_clone() else { return };
                let _ = Command::new(SSHD)
                    .arg("-i")
                    .arg("-f")
                    .arg(&config)
                    .stdin(Stdio::from(input))
                    .stdout(Stdio::from(output))
                    .stderr(Stdio::null())
                    .spawn();
            }
        });
        Ok(Self { scratch })
    }

    /// Returns the command line of an ssh that knows this computer as `far`.
    pub(super) fn ssh(&self) -> String {
        format!("ssh -F {}", self.scratch.path().join("ssh_config").display())
    }

    /// Returns a folder that may be a home.
    pub(super) fn home(&self) -> &Path {
        self.scratch.path()
    }
}
