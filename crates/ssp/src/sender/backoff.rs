//! Longer waits between large instructions that the peer does not acknowledge.
//!
//! A large instruction may be lost again and again. The peer may also refuse it for a time because its own program does
//! not read. The sender cannot distinguish these cases. Loss lasts for seconds and a refusal may last for hours. So the
//! longer the tries stay unanswered, the rarer they become.

use rove_units::{Duration, Instant};

use crate::send_timing::SendTiming;

/// The wait before the next try is the time from the first unanswered try to the newest, divided by this. Chosen by two
/// measurements. At 30 % loss large screens and pastes arrive as soon as without a wait, because a try succeeds within
/// two seconds. If a peer on a fast path refuses 20 kB, the sender sends 3,200 datagrams in the first minute. Later it
/// sends 700 a minute, mostly acknowledgments. Without a wait, it sends 50,000.
const WAIT_DIVISOR: u32 = 32;

/// The sends of instructions with several fragments since the last new acknowledgment.
#[derive(Clone, Debug, Default)]
pub(super) struct Backoff {
    /// When the first and the newest of these sends were made. `None` if there were none.
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

    /// Returns when the next large instruction may be sent, after at most a heartbeat interval. `None`: at once.
    pub(super) fn until(&self, timing: &SendTiming) -> Option<Instant> {
        let (_, last) = self.tries?;
        Some(last + self.wait().min(timing.config.heartbeat.interval))
    }

    /// Returns whether the waits have become longer than the time after which a lost state is usually sent again.
    pub(super) fn is_slow(&self, timing: &SendTiming) -> bool {
        self.wait() > timing.in_flight()
    }

    fn wait(&self) -> Duration {
        self.tries.map_or(Duration::ZERO, |(first, last)| last.saturating_since(first))
            / WAIT_DIVISOR
    }
}
