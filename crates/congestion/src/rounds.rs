//! Round trips of a flow: one ends when a packet is acknowledged that was sent after it began.

use rove_units::{Duration, Instant};

/// Divides a flow's acknowledgments into round trips, and keeps each one's least round-trip time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    began: Option<Instant>,
    current: Round,
}

/// The samples of a round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Round {
    /// The least round-trip time; `None` before the first sample.
    pub(crate) rtt: Option<Duration>,
    /// How many samples there were.
    pub(crate) samples: u32,
}

impl Rounds {
    /// Counts the acknowledgment of a packet that was sent at `sent`; returns the round that the acknowledgment ends, if it ends one. Its
    /// own sample is the next round's first.
    pub(crate) fn update(&mut self, now: Instant, sent: Instant, rtt: Duration) -> Option<Round> {
        let ended = self.began.is_none_or(|began| sent >= began).then_some(self.current);
        if ended.is_some() {
            *self = Self { began: Some(now), current: Round::default() };
        }
        self.current.rtt = Some(self.current.rtt.map_or(rtt, |least| least.min(rtt)));
        self.current.samples += 1;
        ended.filter(|round| round.samples > 0)
    }

    /// Returns the round that has not ended.
    pub(crate) const fn current(&self) -> Round {
        self.current
    }
}
