//! How a program is ended that may have changed the terminal: it is asked to, and killed if that does not help.
//!
//! ssh gives the terminal back when it is asked. But a signal that comes after it has drawn its question and before it
//! reads the answer is noticed only by the next one (OpenSSH 9.2 as observed). So it is asked again and again.

use rove_units::{Duration, Instant};
use rustix::process::Signal;

/// How long a program may take to end. Chosen: a hundred times what ssh takes.
const PATIENCE: Duration = Duration::from_secs(2);
/// Wait before it is asked again. Chosen: five times what ssh takes to end, and nothing that a user notices.
const ASK_AGAIN: Duration = Duration::from_millis(100);
const _: () = assert!(ASK_AGAIN.as_millis() < PATIENCE.as_millis());

/// The end of a program.
#[derive(Clone, Debug)]
pub(crate) struct SshReaper {
    ask_at: Instant,
    kill_at: Instant,
}

impl SshReaper {
    pub(crate) fn new(now: Instant) -> Self {
        Self { ask_at: now, kill_at: now + PATIENCE }
    }

    /// Returns the signal that the program is to get now; after [`Signal::KILL`] nothing is left to do.
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

    /// Returns when to call [`SshReaper::poll_signal`] if the program has not ended before.
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
