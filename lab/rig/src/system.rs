//! The programs of a system that uses the Mosh protocol: a server and its client.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::place::Place;

/// The first words of a command line, by which root runs the following command as an ordinary user.
const AS_NOBODY: &[&str] =
    &["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"];

/// A server program and its client program.
#[derive(Clone, Debug)]
pub struct System {
    /// The system's name in tables.
    pub name: &'static str,
    /// The command that runs server and client as another user. Empty if they run as this user.
    runner: &'static [&'static str],
    wrapper: PathBuf,
    server: Call,
    client: Call,
}

/// A program, and the first words after its name.
#[derive(Clone, Debug)]
struct Call {
    program: PathBuf,
    args: &'static [&'static str],
}

impl Call {
    fn at(&self, place: Place<'_>, runner: &[&str]) -> Result<Command> {
        let mut words = runner.iter().map(Path::new).chain([self.program.as_path()]);
        let mut command = place.command(words.next().expect("a program is a word"))?;
        command.args(words).args(self.args);
        Ok(command)
    }
}

impl System {
    /// Returns stock Mosh as it is installed.
    pub fn stock(name: &'static str) -> Self {
        let call = |program: &str| Call { program: program.into(), args: &[] };
        Self {
            name,
            runner: &[],
            wrapper: "mosh".into(),
            server: call("mosh-server"),
            client: call("mosh-client"),
        }
    }

    /// Returns the system that consists of the rove in the file `program`.
    pub fn rove(name: &'static str, program: PathBuf) -> Self {
        let call = |args| Call { program: program.clone(), args };
        let (server, client) = (call(&["server"]), call(&["client"]));
        Self { name, runner: &[], wrapper: program, server, client }
    }

    /// Returns a system with this system's client and the server of `other`.
    #[must_use]
    pub fn with_server_of(self, name: &'static str, other: Self) -> Self {
        Self { name, server: other.server, ..self }
    }

    /// Returns a system that runs server and client as the user `nobody`. Only root can start them.
    #[must_use]
    pub fn as_nobody(self) -> Self {
        Self { runner: AS_NOBODY, ..self }
    }

    /// Returns the first words of the server's command line.
    ///
    /// # Errors
    ///
    /// Returns the system's error if it gives no descriptor.
    pub fn server(&self, place: Place<'_>) -> Result<Command> {
        self.server.at(place, self.runner)
    }

    /// Returns the first words of the client's command line.
    ///
    /// # Errors
    ///
    /// Returns an error as [`System::server`] does.
    pub fn client(&self, place: Place<'_>) -> Result<Command> {
        self.client.at(place, self.runner)
    }

    /// Returns the first words of the server's command line, as text for a shell.
    pub fn server_words(&self) -> String {
        let program = self.server.program.display().to_string();
        [&[program.as_str()], self.server.args].concat().join(" ")
    }

    /// Returns the first words of the command line that starts a session over ssh.
    pub fn wrapper(&self) -> Command {
        Command::new(&self.wrapper)
    }
}
