//! Slowing down while large instructions find no answer.
//!
//! A large instruction may be lost again and again, or the peer may refuse it for now because its own reader does not read. Both look
//! the same from here. The first lasts for seconds and the second may last for hours, so the longer tries stay unanswered, the
//! rarer they become.

use rove_units::{Duration, Instant};

use crate::send_timing::SendTiming;

/// The wait before the next try is the time without an answer, divided by this. Chosen: at 30 % loss pictures and
/// pastes (tests/pair) arrive as soon as without a wait, as tries there succeed within a second or two;
/// 20 kB that a peer on a fast path leaves with us cost 3,200 datagrams in the first minute instead of
/// 50,000, and 700 a minute, mostly acknowledgments, from then on.
const WAIT_DIVISOR: u32 = 32;

/// The tries to send something of several fragments since the last acknowledgment that was news.
#[derive(Clone, Debug, Default)]
pub(super) struct Backoff {
    /// When the first and the last were made, if there were any.
    tries: Option<(Instant, Instant)>,
}

impl Backoff {
    pub(super) fn handle_ack(&mut self) {
        self.tries = None;
    }

    pub(super) fn handle_try(&mut self, now: Instant) {
        let first = self.tries.map_or(now, |(first, _)| first);
        self.tries = Some((first, now));
    }

    /// Returns before when nothing large is to be sent; never longer than the heartbeat.
    pub(super) fn until(&self, timing: &SendTiming) -> Option<Instant> {
        let (_, last) = self.tries?;
        Some(last + self.wait().min(timing.config.heartbeat.interval))
    }

    /// Returns whether the tries have become rarer than those of a usual repair.
    pub(super) fn is_slow(&self, timing: &SendTiming) -> bool {
        self.wait() > timing.in_flight()
    }

    fn wait(&self) -> Duration {
        self.tries.map_or(Duration::ZERO, |(first, last)| last.saturating_since(first))
            / WAIT_DIVISOR
    }
}
