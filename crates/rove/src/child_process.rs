//! A child process that a fork of this process can also signal, although the fork is not its parent.

use std::os::fd::OwnedFd;
use std::rc::Rc;

#[cfg(target_os = "linux")]
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

/// A child of this process, or of the process from which this process was forked.
#[derive(Clone, Debug)]
pub(crate) struct ChildProcess {
    pid: Pid,
    /// A pidfd, which names the child even after its process number is reused. `None` on systems without pidfds.
    handle: Option<Rc<OwnedFd>>,
}

impl ChildProcess {
    /// Creates the value for `pid`, a child of this process that nobody has waited for.
    pub(crate) fn new(pid: Pid) -> Self {
        Self { pid, handle: open(pid).map(Rc::new) }
    }

    /// Sends `signal`, if given, to the child. Returns `false` if the child has ended, or in a fork without pidfds.
    pub(crate) fn signal(&self, signal: Option<Signal>) -> bool {
        match (waitpid(Some(self.pid), WaitOptions::NOHANG), signal) {
            // The system does not reuse the process number until this process has waited for the process.
            (Ok(None), Some(signal)) => kill_process(self.pid, signal).is_ok(),
            (Ok(None), None) => true,
            (Ok(Some(_)), _) => false,
            // Another process is the child's parent.
            (Err(_), signal) => self.handle.as_ref().is_some_and(|it| send(it, signal)),
        }
    }

    /// Waits for the end of the process, if it is a child of this process.
    pub(crate) fn wait(&self) {
        let _ = rustix::io::retry_on_intr(|| waitpid(Some(self.pid), WaitOptions::empty()));
    }
}

#[cfg(target_os = "linux")]
fn open(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

/// Sends a signal, if one is given. Returns `false` after the end of the process, even while it is a zombie.
#[cfg(target_os = "linux")]
fn send(handle: &OwnedFd, signal: Option<Signal>) -> bool {
    let mut ended = [PollFd::new(handle, PollFlags::IN)];
    let has_ended = matches!(poll(&mut ended, Some(&Timespec::default())), Ok(1..));
    !has_ended && signal.is_none_or(|it| rustix::process::pidfd_send_signal(handle, it).is_ok())
}

#[cfg(not(target_os = "linux"))]
fn open(_: Pid) -> Option<OwnedFd> {
    None
}

#[cfg(not(target_os = "linux"))]
fn send(_: &OwnedFd, _: Option<Signal>) -> bool {
    false
}
