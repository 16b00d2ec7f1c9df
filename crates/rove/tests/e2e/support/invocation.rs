//! Command lines with a known environment.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// First words of a command whose mounts no other process sees. A script and its arguments must follow. Needs root.
pub(crate) const OWN_MOUNTS: [&str; 4] = ["unshare", "--mount", "sh", "-c"];

/// Words before a command. The command inherits a copy of standard output as descriptor 9.
pub(crate) const WITH_A_COPY: [&str; 4] = ["sh", "-c", "exec 9>&1; exec \"$@\"", "sh"];

/// A program with its arguments and its whole environment.
#[derive(Clone, Debug)]
pub(crate) struct Invocation {
    program: PathBuf,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
}

impl Invocation {
    /// Creates a call of `program` in an environment that is the same on every machine.
    pub(crate) fn new(program: impl AsRef<Path>) -> Self {
        let home = std::env::var_os("HOME").unwrap_or_else(|| "/".into());
        let path = std::env::var_os("PATH").unwrap_or_default();
        let call = Self { program: program.as_ref().to_owned(), args: Vec::new(), env: Vec::new() };
        call.env("HOME", home)
            .env("PATH", path)
            .env("LANG", "C.UTF-8")
            .env("ROVE_CONFIG", "")
            // No test may read what another test has stored.
            .env("XDG_STATE_HOME", "/dev/null")
            .env("XDG_DATA_HOME", "/dev/null")
            .env("SHELL", "/bin/sh")
            .env("TERM", "xterm-256color")
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(self, args: impl IntoIterator<Item = A>) -> Self {
        args.into_iter().fold(self, Self::arg)
    }

    pub(crate) fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Gives a client these facts and choices, in the way in which `rove` starts its client.
    pub(crate) fn session_call(self, mut call: Value) -> Self {
        call["escape_key"] = 0x1e.into();
        self.env("ROVE_CALL", call.to_string())
    }

    /// Runs the program with mounts of its own, by `script`, which gets the program as arguments.
    pub(crate) fn behind_mounts(self, script: &[&str]) -> Self {
        self.behind(&[&OWN_MOUNTS[..], script].concat())
    }

    /// Runs the program through the program `words`, whose last arguments become the original program and arguments.
    pub(crate) fn behind(mut self, words: &[&str]) -> Self {
        let before = words[1..].iter().map(OsString::from).chain([self.program.into()]);
        self.args = before.chain(self.args).collect();
        self.program = words[0].into();
        self
    }

    /// Returns the program and its arguments in a line of text, for messages.
    pub(crate) fn words(&self) -> String {
        let args = self.args.iter().map(OsString::as_os_str);
        let words = [self.program.as_os_str()].into_iter().chain(args);
        words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ").escape_debug().to_string()
    }

    /// Returns the call as a [`Command`] of the standard library.
    pub(crate) fn command(&self) -> Command {
        self.command_behind(&[])
    }

    /// Returns the [`Command`] that starts the call through `wrapper`, which must replace itself by the program (exec).
    pub(crate) fn command_behind(&self, wrapper: &[&str]) -> Command {
        let words: Vec<&OsStr> = wrapper
            .iter()
            .map(OsStr::new)
            .chain([self.program.as_os_str()])
            .chain(self.args.iter().map(OsString::as_os_str))
            .collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).env_clear();
        for (name, value) in &self.env {
            command.env(name, value);
        }
        command
    }
}

/// Returns the path of an installed program. If it is not installed, the test fails and names the package.
pub(crate) fn require(program: &str, package: &str) -> PathBuf {
    find(program).unwrap_or_else(|| {
        panic!("this test needs {program}: sudo apt-get install {package}");
    })
}

/// Returns whether a program is installed.
pub(crate) fn is_installed(program: &str) -> bool {
    find(program).is_some()
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // sshd is in `/usr/sbin`, which a user's PATH may lack.
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    folders.map(|folder| folder.join(program)).find(|file| file.is_file())
}
