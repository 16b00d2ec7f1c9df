//! The ssh that the bootstrap has logged in with, handed over to the client that it turns into: its
//! descriptors and its process, and how to start another one.
//!
//! They are inherited, and an environment variable says which they are.

use std::ffi::OsString;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::process::Child;

use anyhow::Context;
use rustix::io::FdFlags;
use rustix::process::Pid;

use crate::sys;

/// Says what is inherited: three descriptors, a process, and the words of a command.
pub(crate) const VARIABLE: &str = "ROVE_TUNNEL";

/// What is handed over, by numbers. They are this process's own only until they are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inherited {
    /// ssh's standard input, output and error output, our ends.
    descriptors: [RawFd; 3],
    pid: i32,
    /// The command that starts another without a question; empty if there is none.
    pub(crate) again: Vec<String>,
}

/// The descriptors of an ssh that runs.
#[derive(Debug)]
pub(crate) struct Descriptors {
    pub(crate) stdin: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
}

impl Descriptors {
    /// Takes those of a child that was started with three pipes.
    pub(crate) fn of(child: &mut Child) -> Option<Self> {
        Some(Self {
            stdin: child.stdin.take()?.into(),
            stdout: child.stdout.take()?.into(),
            stderr: child.stderr.take()?.into(),
        })
    }

    /// Makes them last beyond an exec, and returns what the program that runs then must know.
    pub(crate) fn bequeath(
        &self,
        child: &Child,
        again: Option<&[OsString]>,
    ) -> rustix::io::Result<OsString> {
        let Self { stdin, stdout, stderr } = self;
        let mut words = Vec::new();
        for descriptor in [stdin, stdout, stderr] {
            rustix::io::fcntl_setfd(descriptor, FdFlags::empty())?;
            words.push(descriptor.as_raw_fd().to_string());
        }
        words.push(child.id().to_string());
        // A word that is no text could not be said; such a host is logged in to once.
        let again = again.and_then(|words| words.iter().map(|word| word.to_str()).collect());
        let again: Vec<&str> = again.unwrap_or_default();
        words.extend(again.into_iter().map(str::to_owned));
        Ok(shell_words::join(words).into())
    }
}

impl Inherited {
    /// Reads what [`Descriptors::bequeath`] has written.
    ///
    /// # Errors
    ///
    /// Returns that it is something else.
    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        let read = || -> Option<Self> {
            let words = shell_words::split(text).ok()?;
            let (numbers, again) = words.split_at_checked(4)?;
            let mut numbers = numbers.iter().map(|word| word.parse().ok());
            let descriptors = [numbers.next()??, numbers.next()??, numbers.next()??];
            Some(Self { descriptors, pid: numbers.next()??, again: again.to_vec() })
        };
        read().with_context(|| format!("{VARIABLE} does not describe a tunnel; only rove sets it"))
    }

    /// Takes the descriptors and the process, which must be a child of this one.
    ///
    /// # Errors
    ///
    /// Returns that they are not there.
    pub(crate) fn take(&self) -> anyhow::Result<(Descriptors, Pid)> {
        let pid = Pid::from_raw(self.pid).filter(|_| self.pid > 1);
        let pid = pid.filter(|&pid| {
            rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::NOHANG).is_ok()
        });
        let [stdin, stdout, stderr] = self.descriptors.map(sys::take_descriptor);
        let descriptors = || Some(Descriptors { stdin: stdin?, stdout: stdout?, stderr: stderr? });
        let (Some(descriptors), Some(pid)) = (descriptors(), pid) else {
            anyhow::bail!("the ssh that {VARIABLE} describes is not there; only rove sets it");
        };
        Ok((descriptors, pid))
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
        let text = descriptors.bequeath(&child, Some(&again)).unwrap();
        let inherited = Inherited::parse(text.to_str().unwrap()).unwrap();
        assert_eq!(inherited.again, ["ssh", "me@host", "it's a b"]);
        assert_eq!(inherited.pid, i32::try_from(child.id()).unwrap());
        assert_eq!(inherited.descriptors[0], descriptors.stdin.as_raw_fd());
        for other in [&descriptors.stdin, &descriptors.stdout, &descriptors.stderr] {
            assert!(!rustix::io::fcntl_getfd(other).unwrap().contains(FdFlags::CLOEXEC));
        }
        drop(descriptors);
        assert!(child.wait().unwrap().success());
    }

    #[test]
    fn what_is_not_there_is_not_taken() {
        for text in ["", "1 2 3", "a 4 5 6", "3 4 5 6.5", "'"] {
            assert!(Inherited::parse(text).is_err(), "{text}");
        }
        // Neither standard descriptors nor processes of others.
        for text in ["0 1 2 1", "1000001 1000002 1000003 1"] {
            assert!(Inherited::parse(text).unwrap().take().is_err(), "{text}");
        }
    }
}
