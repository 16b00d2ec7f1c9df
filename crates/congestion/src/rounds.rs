//! Round trips of a flow. A round trip ends when a packet is acknowledged that was sent after the round trip began.

use rove_units::{Duration, Instant};

/// Divides a flow's acknowledgments into round trips, and finds the least round-trip time of each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    began: Option<Instant>,
    current: Round,
}

/// The samples of the round-trip time within one round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Round {
    /// The least of the samples. `None` before the first sample.
    pub(crate) rtt: Option<Duration>,
    pub(crate) samples: u32,
}

impl Rounds {
    /// Counts the acknowledgment of a packet that was sent at `sent`. Returns the round trip that this acknowledgment
    /// ends. `None` if it ends no round trip. The acknowledgment's own sample belongs to the next round trip.
    pub(crate) fn update(&mut self, now: Instant, sent: Instant, rtt: Duration) -> Option<Round> {
        let ended = self.began.is_none_or(|began| sent >= began).then_some(self.current);
        if ended.is_some() {
            *self = Self { began: Some(now), current: Round::default() };
        }
        self.current.rtt = Some(self.current.rtt.map_or(rtt, |least| least.min(rtt)));
        self.current.samples += 1;
        ended.filter(|round| round.samples > 0)
    }

    /// Returns the round trip that has not ended yet.
    pub(crate) const fn current(&self) -> Round {
        self.current
    }
}
