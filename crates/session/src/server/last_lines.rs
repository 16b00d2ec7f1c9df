//! The time that a server gives the scrolled-off lines of a program that has ended, until it ends the session.
//!
//! The session's last state holds only the newest lines. If more lines wait, the server first sends them in pieces,
//! with a larger window than while the program runs. It ends the session once the last state has room for the rest.

use rove_terminal::ExitStatus;
use rove_units::{Duration, Instant};

/// Longest time from the program's end to the start of the shutdown, while lines arrive. Chosen: 10,000 lines of 80
/// random characters take 45 s on 128 kbit/s.
const DELIVERY_MAX: Duration = Duration::from_secs(60);

/// How long no further line may arrive until the server ends the session. Chosen: as long as a server repeats the end.
const STALL_MAX: Duration = Duration::from_secs(10);

/// The lines of a program that has ended, as far as they are not sent.
#[derive(Debug)]
pub(super) struct LastLines {
    /// How the program ended. The last state tells it.
    pub(super) status: Option<ExitStatus>,
    ends_at: Instant,
    /// The number of the first line that the client has not acknowledged.
    arrived: u64,
    stalls_at: Instant,
}

impl LastLines {
    pub(super) fn new(now: Instant, status: Option<ExitStatus>) -> Self {
        Self { status, ends_at: now + DELIVERY_MAX, arrived: 0, stalls_at: now + STALL_MAX }
    }

    /// Returns whether the server still waits. `arrived` is the number of the first line that is not acknowledged.
    pub(super) fn goes_on(&mut self, now: Instant, arrived: u64) -> bool {
        if self.arrived != arrived {
            (self.arrived, self.stalls_at) = (arrived, now + STALL_MAX);
        }
        now < self.deadline()
    }

    /// Returns when the server ends the session if no further line arrives.
    pub(super) fn deadline(&self) -> Instant {
        self.ends_at.min(self.stalls_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_ends_without_progress_and_after_a_minute() {
        let at = Instant::from_millis;
        let mut stalled = LastLines::new(at(0), None);
        assert!(stalled.goes_on(at(5_000), 7));
        assert!(stalled.goes_on(at(14_999), 7));
        assert_eq!(stalled.deadline(), at(15_000));
        assert!(!stalled.goes_on(at(15_000), 7));
        let mut slow = LastLines::new(at(0), None);
        assert!((1..60).all(|second| slow.goes_on(at(second * 1_000), second)));
        assert!(!slow.goes_on(at(60_000), 60));
    }
}
