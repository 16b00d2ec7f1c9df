//! Programs of a system that speaks the Mosh protocol: a server and its client.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::place::Place;

/// The beginning of a command line, by which root runs the rest as an ordinary user.
const AS_NOBODY: &[&str] =
    &["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"];

/// A server and its client.
#[derive(Clone, Debug)]
pub struct System {
    /// The name of the system in tables.
    pub name: &'static str,
    /// The command that runs the server and the client for another user. Empty if there is none.
    runner: &'static [&'static str],
    wrapper: PathBuf,
    server: Call,
    client: Call,
}

/// A program, and the first words of its command line.
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

    /// Returns the system that is the rove in this file.
    pub fn rove(name: &'static str, program: PathBuf) -> Self {
        let call = |args| Call { program: program.clone(), args };
        let (server, client) = (call(&["server"]), call(&["client"]));
        Self { name, runner: &[], wrapper: program, server, client }
    }

    /// Returns a system of this system's client and another one's server.
    #[must_use]
    pub fn with_server_of(self, name: &'static str, other: Self) -> Self {
        Self { name, server: other.server, ..self }
    }

    /// Returns the system with server and client run as the user `nobody`. Only root can start it.
    #[must_use]
    pub fn as_nobody(self) -> Self {
        Self { runner: AS_NOBODY, ..self }
    }

    /// Returns the start of the server's command line.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal of one more descriptor.
    pub fn server(&self, place: Place<'_>) -> Result<Command> {
        self.server.at(place, self.runner)
    }

    /// Returns the start of the client's command line.
    ///
    /// # Errors
    ///
    /// Returns an error as [`System::server`] does.
    pub fn client(&self, place: Place<'_>) -> Result<Command> {
        self.client.at(place, self.runner)
    }

    /// Returns the beginning of the server's command line, as words for a shell.
    pub fn server_words(&self) -> String {
        let program = self.server.program.display().to_string();
        [&[program.as_str()], self.server.args].concat().join(" ")
    }

    /// Returns the beginning of the command line that starts both ends over ssh.
    pub fn wrapper(&self) -> Command {
        Command::new(&self.wrapper)
    }
}
