//! Decides when a session without a program ends for lack of streams.

use rove_units::{Duration, Instant};

/// Longest time without an open stream, from the start or the last stream's end, in a session without a program.
/// Chosen: longer than the usual time until the next ssh through the same host.
const QUIET_MAX: Duration = Duration::from_secs(600);
/// Longest silence of the client until a session without a program ends. Chosen: a laptop may sleep for a night and a
/// day, while the connections of its streams stay open at the host.
pub(super) const UNHEARD_MAX: Duration = Duration::from_secs(86_400);
const _: () = assert!(QUIET_MAX.as_secs() < UNHEARD_MAX.as_secs());

/// The reason why a session without a program continues or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StreamLife {
    /// Streams are open. Only the client's silence ends the session.
    Busy,
    /// No stream has been open since this time.
    QuietSince(Instant),
    /// The client forwards connections (`rove -N`). Only the client's end or silence ends the session.
    Kept,
    /// The session's end has begun.
    Over,
}

impl StreamLife {
    /// Creates the value for a session that starts without streams.
    pub(super) const fn new(now: Instant) -> Self {
        Self::QuietSince(now)
    }

    /// Notes how many streams are open. Returns `true` at the first call at which the session must end.
    pub(super) fn handle(&mut self, now: Instant, open: usize) -> bool {
        *self = match *self {
            known @ (Self::Over | Self::Kept) => known,
            _ if open > 0 => Self::Busy,
            Self::Busy => Self::QuietSince(now),
            quiet => quiet,
        };
        let is_due = self.deadline().is_some_and(|at| at <= now);
        debug_assert!(!is_due || open == 0, "an open stream keeps the session");
        if is_due {
            *self = Self::Over;
        }
        is_due
    }

    /// Returns the time by which to call [`StreamLife::handle`] again. `None` for never.
    pub(super) fn deadline(self) -> Option<Instant> {
        if let Self::QuietSince(since) = self { Some(since + QUIET_MAX) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_for_a_client_that_forwards_waits_for_it_without_a_stream() {
        let mut life = StreamLife::Kept;
        for (second, open) in [(0, 0), (5, 1), (9, 0), (100_000, 0)] {
            assert!(!life.handle(Instant::from_millis(1000 * second), open));
            assert_eq!(life.deadline(), None);
        }
    }

    /// Reports how many streams are open at these times, in seconds. Returns the times at which the session ends.
    fn ends(told: &[(u64, usize)]) -> Vec<u64> {
        let mut life = StreamLife::new(Instant::from_millis(0));
        let mut ends = Vec::new();
        for &(second, open) in told {
            if life.handle(Instant::from_millis(1000 * second), open) {
                ends.push(second);
            }
        }
        ends
    }

    #[test]
    fn a_session_without_a_program_ends_ten_minutes_after_its_last_stream() {
        for (told, ended) in [
            (&[(0, 0), (599, 0), (600, 0), (601, 0), (2000, 0)][..], &[600][..]),
            (&[(599, 1), (600, 1), (100_000, 2), (100_001, 1)], &[]),
            (&[(599, 1), (5000, 0), (5599, 0), (5600, 0)], &[5600]),
            (&[(10, 2), (20, 1), (30, 0), (629, 1), (640, 0), (1239, 0), (1240, 0)], &[1240]),
            // A stream that comes after the end has begun changes nothing.
            (&[(600, 0), (601, 1), (602, 0), (9000, 0)], &[600]),
        ] {
            assert_eq!(ends(told), ended, "{told:?}");
        }
    }

    #[test]
    fn the_loop_is_woken_for_the_end_and_for_nothing_else() {
        let at = Instant::from_millis;
        let mut life = StreamLife::new(at(5));
        assert_eq!(life.deadline(), Some(at(600_005)));
        assert!(!life.handle(at(10), 1));
        assert_eq!(life.deadline(), None);
        assert!(!life.handle(at(20), 0));
        assert_eq!(life.deadline(), Some(at(600_020)));
        assert!(life.handle(at(600_020), 0));
        assert_eq!(life.deadline(), None);
    }
}
