//! Holds back the output of a login shell that starts before its client's first datagram.
//!
//! The shell starts before the client's first datagram, so that a login does not wait for that round trip. The shell's
//! output waits in the pty, because a program may ask for facts about the terminal that only the client knows.

use rove_units::{Duration, Instant};

/// Time for which output waits after the client's first datagram. The answers of the user's terminal to the client's
/// queries arrive after that datagram, and programs ask the server for these answers. Chosen: the time until the first
/// output of a shell that starts at the client's arrival.
const TERMINAL_ANSWERS: Duration = Duration::from_millis(5);

/// Whether the server reads the output of the session's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hold {
    /// Output waits for the client's first datagram.
    Client,
    /// Output waits until this time.
    Until(Instant),
    /// The server reads the output.
    Over,
}

impl Hold {
    /// Creates the hold of a program that starts before (`is_early`) or after its client's first datagram.
    pub(super) const fn new(is_early: bool) -> Self {
        if is_early { Self::Client } else { Self::Over }
    }

    /// Returns whether the server reads the program's output.
    pub(super) fn is_over(self) -> bool {
        self == Self::Over
    }

    /// Handles the client's first datagram.
    pub(super) fn handle_client(&mut self, now: Instant) {
        if *self == Self::Client {
            *self = Self::Until(now + TERMINAL_ANSWERS);
        }
    }

    /// Returns when to call [`Hold::handle_timeout`]. `None` for never.
    pub(super) const fn deadline(self) -> Option<Instant> {
        if let Self::Until(at) = self { Some(at) } else { None }
    }

    /// Ends the hold at its deadline. Returns whether this call has ended it.
    pub(super) fn handle_timeout(&mut self, now: Instant) -> bool {
        let is_due = self.deadline().is_some_and(|at| at <= now);
        if is_due {
            *self = Self::Over;
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_waits_for_the_client_and_then_for_its_terminal() {
        let at = Instant::from_millis;
        let mut hold = Hold::new(true);
        assert!(!hold.handle_timeout(at(9_999)) && hold.deadline().is_none() && !hold.is_over());
        hold.handle_client(at(10_000));
        hold.handle_client(at(10_001));
        assert_eq!(hold.deadline(), Some(at(10_005)));
        assert!(!hold.handle_timeout(at(10_004)) && !hold.is_over());
        assert!(hold.handle_timeout(at(10_005)) && hold.is_over());
        assert!(!hold.handle_timeout(at(10_006)) && hold.deadline().is_none());
        assert!(Hold::new(false).is_over());
    }
}
