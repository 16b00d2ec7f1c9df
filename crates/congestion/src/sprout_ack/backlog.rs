//! The bytes of a flow in flight, and how long the oldest of them have been late.

use std::collections::VecDeque;

use rove_units::{Duration, Instant};

/// Most entries of a backlog, each for a millisecond. Later bytes join the last entry. Chosen: 16 s.
const BINS_MAX: usize = 16_384;

/// The bytes in flight, by the millisecond of their sending, and a stopwatch that runs while the oldest are late.
#[derive(Clone, Debug, Default)]
pub(super) struct Backlog {
    bins: VecDeque<(u64, u64)>,
    /// How long bytes have been late since [`Self::take_late`] was last called.
    late: Duration,
    watched: Instant,
}

impl Backlog {
    /// Adds `size` bytes that were sent in the millisecond `millis`.
    pub(super) fn add(&mut self, millis: u64, size: u64) {
        let is_full = self.bins.len() >= BINS_MAX;
        match self.bins.back_mut() {
            Some((last, bytes)) if *last >= millis || is_full => {
                *bytes = bytes.saturating_add(size)
            }
            _ => self.bins.push_back((millis, size)),
        }
        debug_assert!(self.bins.len() <= BINS_MAX, "a full backlog gets no more entries");
    }

    /// Removes `size` acknowledged bytes that were sent in the millisecond `millis`.
    pub(super) fn remove(&mut self, millis: u64, size: u64) {
        let after = self.bins.partition_point(|(at, _)| *at <= millis);
        if let Some((_, bytes)) = after.checked_sub(1).and_then(|place| self.bins.get_mut(place)) {
            *bytes = bytes.saturating_sub(size);
        }
        self.forget_empty();
    }

    /// Removes `size` lost bytes sent by the millisecond `millis`, oldest first. A call may report several losses.
    pub(super) fn lose(&mut self, millis: u64, mut size: u64) {
        for (_, bytes) in self.bins.iter_mut().take_while(|(at, _)| *at <= millis) {
            let lost = size.min(*bytes);
            *bytes -= lost;
            size -= lost;
        }
        self.forget_empty();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bins.is_empty()
    }

    /// Returns whether bytes that were sent at least `age` ago are in flight.
    pub(super) fn has_older(&self, now: Instant, age: Duration) -> bool {
        self.late_from(age).is_some_and(|from| from <= now)
    }

    /// Advances the stopwatch to `now`. Bytes that are `age` old are late. Call this before bytes are removed.
    pub(super) fn watch(&mut self, now: Instant, age: Duration) {
        if let Some(from) = self.late_from(age) {
            self.late += now.saturating_since(from.max(self.watched));
        }
        self.watched = self.watched.max(now);
    }

    /// Returns how long bytes have been late since the last call, and resets the stopwatch.
    pub(super) fn take_late(&mut self) -> Duration {
        core::mem::take(&mut self.late)
    }

    /// Returns when the oldest bytes in flight become `age` old. `None` if nothing is in flight.
    fn late_from(&self, age: Duration) -> Option<Instant> {
        // All bytes of a millisecond count as sent at its end.
        self.bins.front().map(|(at, _)| Instant::from_millis(at.saturating_add(1)) + age)
    }

    fn forget_empty(&mut self) {
        while self.bins.front().is_some_and(|(_, bytes)| *bytes == 0) {
            self.bins.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGE: Duration = Duration::from_millis(40);

    #[test]
    fn lost_bytes_are_taken_off_those_sent_before() {
        let mut backlog = Backlog::default();
        for millis in [1, 1, 2, 5] {
            backlog.add(millis, 100);
        }
        backlog.remove(2, 100);
        backlog.lose(1, 150);
        assert_eq!(backlog.bins, [(1, 50), (2, 0), (5, 100)]);
        backlog.lose(9, 1_000);
        assert!(backlog.is_empty());
    }

    #[test]
    fn no_number_of_milliseconds_makes_more_bins_than_the_most() {
        let mut backlog = Backlog::default();
        (0..40_000).for_each(|millis| backlog.add(millis, 1));
        assert_eq!(backlog.bins.len(), BINS_MAX);
        backlog.remove(0, 1);
        let ages = [41, 42].map(Instant::from_millis).map(|now| backlog.has_older(now, AGE));
        assert_eq!(ages, [false, true], "the oldest left was sent in the second millisecond");
    }

    #[test]
    fn the_watch_runs_while_the_oldest_bytes_are_late() {
        let mut backlog = Backlog::default();
        let late = |backlog: &mut Backlog, millis| {
            backlog.watch(Instant::from_millis(millis), AGE);
            backlog.take_late()
        };
        assert_eq!(late(&mut backlog, 5), Duration::ZERO, "nothing is on its way");
        backlog.add(9, 100);
        backlog.add(29, 100);
        assert_eq!(late(&mut backlog, 50), Duration::ZERO, "sent at 10 ms, late from 50 ms on");
        assert_eq!(late(&mut backlog, 53), Duration::from_millis(3));
        backlog.remove(9, 100);
        assert_eq!(late(&mut backlog, 75), Duration::from_millis(5), "the next ones from 70 ms on");
        assert_eq!(late(&mut backlog, 60), Duration::ZERO, "time that went by does not again");
        assert_eq!(late(&mut backlog, 80), Duration::from_millis(5));
        backlog.remove(29, 100);
        assert_eq!(late(&mut backlog, 1_000), Duration::ZERO);
    }
}
