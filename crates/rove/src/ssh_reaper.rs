//! Ends a program that may have changed the terminal's modes: with repeated requests, and at last with SIGKILL.
//!
//! On a request ssh restores the terminal. But if a signal arrives after it has printed its question and before it
//! reads the answer, only the next signal is noticed (OpenSSH 9.2 as observed). So the request is repeated.

use rove_units::{Duration, Instant};
use rustix::process::Signal;

/// How long a program has to end until it is killed. Chosen: a hundred times the time that ssh needs.
const PATIENCE: Duration = Duration::from_secs(2);
/// Interval between two requests to end. Chosen: five times the time that ssh needs, and too short for a user to
/// notice.
const ASK_AGAIN: Duration = Duration::from_millis(100);
const _: () = assert!(ASK_AGAIN.as_millis() < PATIENCE.as_millis());

/// The schedule of signals that end a program.
#[derive(Clone, Debug)]
pub(crate) struct SshReaper {
    ask_at: Instant,
    kill_at: Instant,
}

impl SshReaper {
    pub(crate) fn new(now: Instant) -> Self {
        Self { ask_at: now, kill_at: now + PATIENCE }
    }

    /// Returns the signal to send to the program now, if one is due. After [`Signal::KILL`] there are no more.
    pub(crate) fn poll_signal(&mut self, now: Instant) -> Option<Signal> {
        if self.kill_at <= now {
            return Some(Signal::KILL);
        }
        if self.ask_at <= now {
            self.ask_at = now + ASK_AGAIN;
            return Some(Signal::TERM);
        }
        None
    }

    /// Returns when to call [`SshReaper::poll_signal`], if the program has not ended.
    pub(crate) fn poll_timeout(&self) -> Instant {
        self.ask_at.min(self.kill_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_asked_again_and_again_and_then_killed() {
        let begin = Instant::from_millis(5000);
        let mut reaper = SshReaper::new(begin);
        let (mut now, mut asked) = (begin, 0);
        while reaper.poll_signal(now) == Some(Signal::TERM) {
            asked += 1;
            assert_eq!(reaper.poll_signal(now), None, "once at a time");
            now = reaper.poll_timeout();
        }
        assert_eq!(asked, 20);
        assert_eq!(now, begin + PATIENCE);
        assert_eq!(reaper.poll_signal(now), Some(Signal::KILL));
    }
}
