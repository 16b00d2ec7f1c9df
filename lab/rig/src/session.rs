//! A session by the Mosh protocol: a server, and a client on the user's terminal.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context, Result, bail};

use rove_session::Preference;
use rustix::process::Signal;

use crate::place::Place;
use crate::process::Process;
use crate::system::System;
use crate::terminal::Terminal;

/// The shell's prompt, without the space at its end.
pub const PROMPT: &str = "bench$";

/// A shell that reads no start-up file. Servers and shells inherit an ignored SIGINT, for example from a script in the
/// background. This command resets SIGINT, so that Ctrl-C interrupts the shell's programs.
pub const SHELL: [&str; 6] = ["env", "--default-signal", "bash", "--norc", "--noprofile", "-i"];

/// Characters of a session key: 16 bytes in base64, without padding.
const KEY_LEN: usize = 22;

/// A server that waits for a client before it runs its command.
#[derive(Debug)]
pub struct Server {
    /// The serving process.
    pub process: Process,
    address: SocketAddr,
    key: String,
}

impl Server {
    /// Starts a server on this computer. It runs `command` when a client comes.
    ///
    /// # Errors
    ///
    /// Returns an error with the server's output, if this does not contain the port and the key.
    pub fn start(system: &System, home: &Path, command: &[&str]) -> Result<Self> {
        Self::start_in(Place::Here, system, home, command)
    }

    /// Starts a server in a place.
    ///
    /// # Errors
    ///
    /// Returns an error as [`Server::start`] does.
    pub fn start_in(
        place: Place<'_>,
        system: &System,
        home: &Path,
        command: &[&str],
    ) -> Result<Self> {
        let ip = place.address();
        let mut call = system.server(place)?;
        call.args(["new", "-i", &ip.to_string(), "-c", "256", "--"]).args(command);
        let output = in_known_environment(&mut call, home)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start {call:?}"))?;
        let Some((port, key, pid)) = announced(&output) else {
            let said = [output.stdout, output.stderr];
            let [stdout, stderr] = said.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            bail!("the server said {stdout:?} and {stderr:?}")
        };
        let address = SocketAddr::from((ip, port));
        Ok(Self { process: Process::open(pid, Signal::TERM)?, address, key })
    }

    /// Opens a handle to the server whose pid is in `stderr`, the output of its first process.
    ///
    /// # Errors
    ///
    /// Returns an error if the output has no pid of a running process.
    pub fn left_behind(stderr: &str) -> Result<Process> {
        let pid = pid_line(stderr).with_context(|| format!("no server in {stderr:?}"))?;
        Process::open(pid, Signal::TERM)
    }

    /// Returns the address at which the server listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

/// A client on a terminal. Dropping this value kills it.
#[derive(Debug)]
pub struct Client(Child);

impl Client {
    /// Starts a client of `server` on this terminal. It shows no predictions, so that bytes and times depend only on
    /// the server's screens.
    ///
    /// # Errors
    ///
    /// Returns the system's error.
    pub fn start(
        system: &System,
        server: &Server,
        home: &Path,
        terminal: &Terminal,
    ) -> Result<Self> {
        Self::start_at(system, server, server.address, home, terminal)
    }

    /// Starts a client on this terminal that reaches `server` at `address`, which may belong to a middlebox.
    ///
    /// # Errors
    ///
    /// Returns the system's error.
    pub fn start_at(
        system: &System,
        server: &Server,
        address: SocketAddr,
        home: &Path,
        terminal: &Terminal,
    ) -> Result<Self> {
        let mut call = system.client(Place::Here)?;
        Self::spawn(&mut call, (&server.key, address), Preference::Never, home, terminal)
    }

    /// Starts a client of `server` in a place. `preference` determines when it shows predictions.
    ///
    /// # Errors
    ///
    /// Returns the system's error.
    pub fn start_in(
        place: Place<'_>,
        system: &System,
        server: &Server,
        preference: Preference,
        home: &Path,
        terminal: &Terminal,
    ) -> Result<Self> {
        let mut call = system.client(place)?;
        Self::spawn(&mut call, (&server.key, server.address), preference, home, terminal)
    }

    fn spawn(
        call: &mut Command,
        (key, address): (&str, SocketAddr),
        preference: Preference,
        home: &Path,
        terminal: &Terminal,
    ) -> Result<Self> {
        call.args([address.ip().to_string(), address.port().to_string()]);
        in_known_environment(call, home)
            .env("MOSH_KEY", key)
            .env("MOSH_PREDICTION_DISPLAY", preference.name());
        Self::on(call, terminal)
    }

    /// Starts a prepared command on this terminal.
    ///
    /// # Errors
    ///
    /// Returns the system's error.
    pub fn on(call: &mut Command, terminal: &Terminal) -> Result<Self> {
        call.stdin(terminal.stdio()?).stdout(terminal.stdio()?).stderr(terminal.stdio()?);
        let child = call.spawn().with_context(|| {
            let name = call.get_program().display();
            format!("cannot start {name}")
        })?;
        Ok(Self(child))
    }

    /// Returns whether the client has ended.
    ///
    /// # Errors
    ///
    /// Returns the system's error.
    pub fn has_ended(&mut self) -> Result<bool> {
        Ok(self.0.try_wait()?.is_some())
    }

    /// Returns the client's pid.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Waits until the client ends, which it does after its server's program has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if the client does not end in time.
    pub fn wait(mut self, terminal: &mut Terminal) -> Result<()> {
        terminal.drain_until_exit(&mut self.0)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // The client has usually ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Gives `command` an environment that is the same on every computer.
pub fn in_known_environment<'a>(command: &'a mut Command, home: &Path) -> &'a mut Command {
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
        .env("LANG", "C.UTF-8")
        .env("TERM", "xterm-256color")
        .env("SHELL", "/bin/sh")
        .env("PS1", format!("{PROMPT} "))
        .env("HISTFILE", "/dev/null")
        .current_dir(home)
}

/// Returns the port, the key and the pid in a server's output.
pub fn announced(output: &Output) -> Option<(u16, String, u32)> {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let (port, key) = connect_line(&stdout)?;
    Some((port, key.to_owned(), pid_line(&String::from_utf8_lossy(&output.stderr))?))
}

/// Returns the port and the key in the line `MOSH CONNECT port key`.
fn connect_line(stdout: &str) -> Option<(u16, &str)> {
    let rest = stdout.lines().find_map(|line| line.strip_prefix("MOSH CONNECT "))?;
    let (port, key) = rest.split_once(' ')?;
    (key.len() == KEY_LEN).then_some((port.parse().ok()?, key))
}

/// Returns the number N in the text `pid = N`.
fn pid_line(stderr: &str) -> Option<u32> {
    let (_, rest) = stderr.split_once("pid = ")?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_where_it_listens() {
        const KEY: &str = "4NeCCgvZFe2RnPgrcU1PQw";
        for (stdout, found) in [
            (format!("\r\n\nMOSH CONNECT 60001 {KEY}\n"), Some((60001, KEY))),
            (format!("MOSH CONNECT x {KEY}\n"), None),
            ("MOSH CONNECT 60001 AAAA\n".to_owned(), None),
            ("bash: mosh-server: not found".to_owned(), None),
        ] {
            assert_eq!(connect_line(&stdout), found, "{stdout}");
        }
        assert_eq!(pid_line("\n[mosh-server detached, pid = 4711]\n"), Some(4711));
        assert_eq!(pid_line("no such thing"), None);
    }
}
