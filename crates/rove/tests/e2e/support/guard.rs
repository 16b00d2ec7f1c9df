//! The one limit on waiting, and processes that cannot outlive their test.

use std::fmt::Debug;
use std::sync::mpsc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Longest any single wait may take before the test counts as hung.
/// Chosen: far above anything a busy machine needs, so that no outcome depends on it.
pub(crate) const HANG_GUARD: Duration = Duration::from_secs(90);

/// Runs `work` in a thread and returns its result; panics with `what` when it hangs.
pub(crate) fn within_guard<T: Send + 'static>(
    what: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (done, result) = mpsc::channel();
    std::thread::spawn(move || {
        let _ = done.send(work());
    });
    match result.recv_timeout(HANG_GUARD) {
        Ok(value) => value,
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what}: nothing for {HANG_GUARD:?}"),
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!("{what}: the thread panicked"),
    }
}

/// Runs `test` on all items at once, as most of a test's time is waiting. Each thread has its
/// item's name, which a failure shows.
pub(crate) fn side_by_side<T: Debug + Send>(
    items: impl IntoIterator<Item = T>,
    test: impl Fn(T) + Sync,
) {
    std::thread::scope(|scope| {
        for item in items {
            let test = &test;
            let thread = std::thread::Builder::new().name(format!("{item:?}"));
            thread.spawn_scoped(scope, move || test(item)).expect("the system has threads");
        }
    });
}

/// A process that is killed when this is dropped, if it has not ended by then.
///
/// It is held by descriptor, so a number used again can never hit a stranger.
pub(crate) struct Process {
    pid: Pid,
    pidfd: OwnedFd,
}

impl Process {
    /// Opens a running process.
    pub(crate) fn open(pid: u32) -> Self {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).expect("a process id");
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).expect("the process is there");
        Self { pid, pidfd }
    }

    /// Returns the process's number.
    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        pidfd_send_signal(&self.pidfd, signal).expect("the process is there");
    }

    /// Waits until the process has ended; returns whether it has within the guard.
    pub(crate) fn wait_gone(&self) -> bool {
        let is_gone = self.ends_within(HANG_GUARD);
        if !is_gone {
            eprintln!("waited {HANG_GUARD:?} for the end of process {}", self.describe());
        }
        is_gone
    }

    /// Returns the process's number, command line and state.
    fn describe(&self) -> String {
        let number = self.pid.as_raw_nonzero();
        let read = |name| std::fs::read_to_string(format!("/proc/{number}/{name}"));
        let words = read("cmdline").unwrap_or_default().replace('\0', " ");
        let status = read("status").unwrap_or_default();
        let state = status.lines().find(|line| line.starts_with("State:")).unwrap_or_default();
        format!("{number}: {words}\n{state}")
    }

    /// Returns whether the process has ended already.
    pub(crate) fn is_gone(&self) -> bool {
        self.ends_within(Duration::ZERO)
    }

    fn ends_within(&self, patience: Duration) -> bool {
        let mut fds = [PollFd::new(&self.pidfd, PollFlags::IN)];
        let patience = Timespec::try_from(patience).expect("the guard fits");
        poll(&mut fds, Some(&patience)).expect("a process can be waited for") == 1
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
    }
}

/// Waits as a person does, where there is no event to wait for.
pub(crate) fn pause(span: std::time::Duration) {
    let (_held, never) = std::sync::mpsc::channel::<()>();
    let _ = never.recv_timeout(span);
}
