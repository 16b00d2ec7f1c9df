//! Ends a program that may have changed the terminal's modes, by repeated SIGTERM and finally SIGKILL.
//!
//! On SIGTERM, ssh restores the terminal and ends. But ssh notices a signal that arrives between its question and the
//! read of the answer only at the next signal (OpenSSH 9.2 as observed). SIGTERM is therefore repeated.

use rove_units::{Duration, Instant};
use rustix::process::Signal;

use crate::child_process::ChildProcess;

/// Time until the program is killed. Chosen: a hundred times the time that ssh needs to end.
const PATIENCE: Duration = Duration::from_secs(2);
/// Time between two SIGTERM. Chosen: five times the time that ssh needs to end, and too short for a user to notice.
const ASK_AGAIN: Duration = Duration::from_millis(100);
const _: () = assert!(ASK_AGAIN.as_millis() < PATIENCE.as_millis());

/// Ends a process by scheduled signals. If the process is a child, also waits for its end.
#[derive(Clone, Debug)]
pub(crate) struct SshReaper {
    process: ChildProcess,
    ask_at: Instant,
    kill_at: Instant,
}

impl SshReaper {
    pub(crate) fn new(process: ChildProcess, now: Instant) -> Self {
        Self { process, ask_at: now, kill_at: now + PATIENCE }
    }

    /// Sends the process the signal that is due, if any. Returns `false` after the process has ended. No other part of
    /// rove may wait for the process, because the system could then reuse its number.
    pub(crate) fn reap(&mut self, now: Instant) -> bool {
        let due = self.poll_signal(now);
        self.process.signal(due)
    }

    /// Returns the signal that is due, if any: SIGTERM at first, and after [`PATIENCE`] only SIGKILL.
    pub(crate) fn poll_signal(&mut self, now: Instant) -> Option<Signal> {
        if self.kill_at <= now {
            // SIGKILL is repeated, because a program that waits for a disk or a network file system may end later.
            (self.ask_at, self.kill_at) = (now + PATIENCE, now + PATIENCE);
            return Some(Signal::KILL);
        }
        if self.ask_at <= now {
            self.ask_at = now + ASK_AGAIN;
            return Some(Signal::TERM);
        }
        None
    }

    /// Returns when to call [`SshReaper::poll_signal`] or [`SshReaper::reap`], if the program has not ended.
    pub(crate) fn poll_timeout(&self) -> Instant {
        self.ask_at.min(self.kill_at)
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::Pid;

    use super::*;

    #[test]
    fn a_program_is_asked_again_and_again_and_then_killed() {
        let begin = Instant::from_millis(5000);
        let mut reaper = SshReaper::new(ChildProcess::new(Pid::INIT), begin);
        let (mut now, mut asked) = (begin, 0);
        let last = loop {
            match reaper.poll_signal(now) {
                Some(Signal::TERM) => asked += 1,
                other => break other,
            }
            assert_eq!(reaper.poll_signal(now), None, "once at a time");
            now = reaper.poll_timeout();
        };
        assert_eq!((asked, now, last), (20, begin + PATIENCE, Some(Signal::KILL)));
        assert_eq!((reaper.poll_timeout(), reaper.poll_signal(now)), (now + PATIENCE, None));
    }
}
