//! Passes the login's ssh to the session's client: its descriptors, its process number, and how to start another ssh.
//!
//! The client is the same process after an exec. It inherits the descriptors; its `SessionCall` has their numbers.

use std::ffi::OsString;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, RawFd};
use std::process::Child;

use rove_bootstrap::{Challenge, OWN_CONNECTION, remote};
use rustix::io::FdFlags;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use serde::{Deserialize, Serialize};

use crate::ssh_process::{Descriptors, SshProcess};
use crate::sys;

/// The option with which ssh never asks the user.
pub(crate) const ASKS_NOTHING: [&str; 2] = ["-o", "BatchMode=yes"];

/// The option after [`ASKS_NOTHING`] with which ssh reports its progress, and thus whether a host has answered.
pub(crate) const TELLS: &str = "-v";

/// The numbers of the inherited process and descriptors. They are valid until [`Inherited::take`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Inherited {
    /// This process's ends of ssh's standard input, output and error output.
    descriptors: [RawFd; 3],
    pid: i32,
    pub(crate) again: Again,
}

/// How to start another ssh for the tunnel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Again {
    /// The argument vector that starts another ssh, which asks the user nothing. Empty if no other ssh can be started.
    pub(crate) words: Vec<String>,
    /// The beginning of the command for a login without the user. It refuses an ssh that may wait for a touch of a key.
    pub(crate) guard: Vec<String>,
    /// The first line of the remote command's output, which contains a random word of this run of rove.
    pub(crate) first_line: String,
    /// For an ssh in reserve for UDP: whether the first login asked the user nothing. `None` if ssh is the only path.
    pub(crate) asks_nothing: Option<bool>,
    /// Whether ssh is configured to share an open connection (`ControlMaster`).
    pub(crate) shares: bool,
    /// The host that ssh jumps through, if a forwarder may be started there.
    pub(crate) jump: Option<JumpCall>,
}

/// How to start a forwarder on a jump host, and the jump host's addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JumpCall {
    /// The argument vector that starts the forwarder, and asks the user nothing.
    pub(crate) words: Vec<String>,
    /// The jump host's addresses, as this computer resolves its name.
    pub(crate) addresses: Vec<IpAddr>,
}

impl Again {
    /// Creates the description of how to start another ssh. If a word is not UTF-8, no other ssh can be started.
    pub(crate) fn new(
        words: Option<&[OsString]>,
        challenge: &Challenge,
        asks_nothing: Option<bool>,
    ) -> Self {
        let words = words.and_then(texts).unwrap_or_default();
        let first_line = remote::first_line(challenge);
        Self { words, first_line, asks_nothing, ..Self::default() }
    }

    /// Returns the argument vector that starts another ssh. If `is_own`, that ssh opens its own connection.
    pub(crate) fn call(&self, is_own: bool) -> Vec<String> {
        let mut words = self.words.clone();
        let position = words.windows(2).rposition(|pair| pair == ASKS_NOTHING);
        if let Some(at) = position.filter(|_| is_own) {
            words.splice(at..at, OWN_CONNECTION.map(str::to_owned));
        }
        words
    }
}

/// Returns words as text. `None` if a word is not UTF-8.
pub(crate) fn texts(words: &[OsString]) -> Option<Vec<String>> {
    words.iter().map(|word| word.to_str().map(str::to_owned)).collect()
}

impl Inherited {
    /// Keeps a child's descriptors open across an exec, and describes the child to the next program.
    pub(crate) fn of(
        descriptors: &Descriptors,
        child: &Child,
        again: Again,
    ) -> rustix::io::Result<Self> {
        let Descriptors { stdin, stdout, stderr } = descriptors;
        for descriptor in [stdin, stdout, stderr] {
            rustix::io::fcntl_setfd(descriptor, FdFlags::empty())?;
        }
        Ok(Self {
            descriptors: [stdin, stdout, stderr].map(AsRawFd::as_raw_fd),
            pid: i32::try_from(child.id()).map_err(|_| rustix::io::Errno::OVERFLOW)?,
            again,
        })
    }

    /// Returns the inherited ssh, which must be a child of this process.
    ///
    /// # Errors
    ///
    /// Returns an error if a descriptor or the process does not exist.
    pub(crate) fn take(&self) -> anyhow::Result<SshProcess> {
        let pid = Pid::from_raw(self.pid).filter(|_| self.pid > 1);
        let pid = pid.filter(|&pid| waitpid(Some(pid), WaitOptions::NOHANG).is_ok());
        let [stdin, stdout, stderr] = self.descriptors.map(sys::take_descriptor);
        let descriptors = || Some(Descriptors { stdin: stdin?, stdout: stdout?, stderr: stderr? });
        let (Some(descriptors), Some(pid)) = (descriptors(), pid) else {
            anyhow::bail!(
                "the ssh that the session's call describes is not there; only rove sets it"
            );
        };
        Ok(SshProcess::new(pid, descriptors)?)
    }

    /// Ends the inherited ssh if it is still a running child of this process. Closing its pipes is not enough: a host's
    /// terminal hides the end of ssh's input from the program there, which then waits for ever.
    pub(crate) fn end(&self) {
        let runs = |&pid: &Pid| matches!(waitpid(Some(pid), WaitOptions::NOHANG), Ok(None));
        if let Some(pid) = Pid::from_raw(self.pid).filter(|_| self.pid > 1).filter(runs) {
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn an_ssh_is_handed_over_with_its_descriptors_and_the_command_for_another() {
        let piped = || Command::new("cat");
        let mut child = piped()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let descriptors = Descriptors::of(&mut child).unwrap();
        let again = ["ssh", "me@host", "it's a b"].map(OsString::from);
        let challenge = Challenge::from_bytes([0; 16]);
        let again = Again::new(Some(&again), &challenge, None);
        let inherited = Inherited::of(&descriptors, &child, again).unwrap();
        assert_eq!(inherited.again.words, ["ssh", "me@host", "it's a b"]);
        let words = ["ssh", "-S", "/a", "-o", "BatchMode=yes", "h"].map(str::to_owned).into();
        let again = Again { words, ..Again::default() };
        assert_eq!(again.call(true).join(" "), "ssh -S /a -S none -o BatchMode=yes h");
        assert_eq!(again.call(false), again.words);
        assert_eq!(inherited.again.first_line, format!("ROVE START {challenge}"));
        assert_eq!(inherited.pid, i32::try_from(child.id()).unwrap());
        assert_eq!(inherited.descriptors[0], descriptors.stdin.as_raw_fd());
        for other in [&descriptors.stdin, &descriptors.stdout, &descriptors.stderr] {
            assert!(!rustix::io::fcntl_getfd(other).unwrap().contains(FdFlags::CLOEXEC));
        }
        drop(descriptors);
        assert!(child.wait().unwrap().success());
    }

    #[test]
    fn closed_descriptors_are_not_taken() {
        // Standard descriptors, descriptors that are not open, and a process that is no child of this one.
        for descriptors in [[0, 1, 2], [1_000_001, 1_000_002, 1_000_003]] {
            let inherited = Inherited { descriptors, pid: 1, again: Again::default() };
            assert!(inherited.take().is_err(), "{descriptors:?}");
        }
    }
}
