//! Queueing delays: by how much the one-way delays of packets exceed the least one-way delay (RFC 6817).

use std::collections::VecDeque;

use rove_units::{Duration, Instant, push_newest};

use crate::controller::Ack;

/// Number of newest samples, the least of which is the current delay. Source: RFC 6817, section 2.5: `CURRENT_FILTER`,
/// at least 1; BitTorrent has four.
pub(crate) const CURRENT: usize = 4;

/// Delays in one direction, in ns. Only differences have a meaning, because the clocks' offset is unknown.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    /// The delays of the last [`CURRENT`] packets, oldest first.
    current: VecDeque<i128>,
    /// The least delay of this round trip. `None` before its first sample.
    round: Option<i128>,
    /// The least delay of each of the last periods (entries), oldest first.
    base: VecDeque<i128>,
    /// The number of entries that are kept, and the length of an entry's period.
    entries: (usize, Duration),
    /// When the newest entry began. `None` before the first sample.
    entry_at: Option<Instant>,
}

impl Delays {
    /// Creates a history of `count` base delays, each measured for `entry`.
    pub(crate) const fn new(count: usize, entry: Duration) -> Self {
        Self {
            current: VecDeque::new(),
            round: None,
            base: VecDeque::new(),
            entries: (count, entry),
            entry_at: None,
        }
    }

    /// Adds a sample. If it ends an entry's period, returns the period's least queueing delay, in seconds; else `None`.
    pub(crate) fn update(&mut self, now: Instant, ack: &Ack) -> Option<f64> {
        let delay = i128::from(ack.received.as_nanos()) - i128::from(ack.sent.as_nanos());
        push_newest(&mut self.current, delay, CURRENT);
        self.round = Some(self.round.map_or(delay, |least| least.min(delay)));
        let (count, entry) = self.entries;
        let is_new = self.entry_at.is_none_or(|at| now.saturating_since(at) >= entry);
        if let Some(least) = self.base.back_mut().filter(|_| !is_new) {
            *least = delay.min(*least);
            return None;
        }
        let ended = self.base.back().map(|least| self.queueing(*least));
        self.entry_at = Some(now);
        push_newest(&mut self.base, delay, count);
        ended
    }

    /// Begins the next round trip. Returns the least queueing delay of the last, in seconds; `None` without a sample.
    pub(crate) fn end_round(&mut self) -> Option<f64> {
        self.round.take().map(|delay| self.queueing(delay))
    }

    /// Returns the least queueing delay among the last `samples` samples, in seconds.
    pub(crate) fn current(&self, samples: usize) -> f64 {
        self.current.iter().rev().take(samples).min().map_or(0.0, |delay| self.queueing(*delay))
    }

    fn queueing(&self, delay: i128) -> f64 {
        let base = self.base.iter().min().copied().unwrap_or(delay);
        let nanos = u64::try_from((delay - base).max(0)).unwrap_or(u64::MAX);
        Duration::from_nanos(nanos).as_secs_f64()
    }
}
