//! Limits the rate of events: the newest few waiting events happen at once, and no event during an interval after that.
//!
//! Bells, copied texts and notifications have a limiter each, so that nothing can keep the user's terminal busy.

use std::collections::VecDeque;

use rove_units::{Duration, Instant, push_newest};

/// The limit of a rate: how many events may happen at once, and how long the next ones must wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance {
    /// Maximum number of events that happen at once; each further event displaces the oldest waiting event.
    pub(crate) most: usize,
    /// How long the next events must wait after some events have happened at once.
    pub(crate) interval: Duration,
    /// How long an event may wait until it is dropped. `None` for no limit.
    pub(crate) age_max: Option<Duration>,
}

/// Delays events so that they stay within an [`Allowance`], and holds the waiting events.
#[derive(Debug)]
pub(crate) struct RateLimiter<T> {
    allowance: Allowance,
    /// The waiting events, oldest first, each with the time of its arrival.
    due: VecDeque<(Instant, T)>,
    /// The time until which all events wait.
    quiet_until: Instant,
}

impl<T> RateLimiter<T> {
    pub(crate) const fn new(allowance: Allowance) -> Self {
        Self { allowance, due: VecDeque::new(), quiet_until: Instant::from_millis(0) }
    }

    pub(crate) fn push(&mut self, now: Instant, event: T) {
        push_newest(&mut self.due, (now, event), self.allowance.most);
        debug_assert!(self.due.len() <= self.allowance.most);
    }

    /// Returns when the waiting events may happen, which may be in the past. `None` if no event waits.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        (!self.due.is_empty()).then_some(self.quiet_until)
    }

    /// Removes and returns the events that may happen now, except too old ones, and starts the next interval.
    pub(crate) fn take(&mut self, now: Instant) -> Vec<T> {
        if self.poll_timeout().is_none_or(|at| now < at) {
            return Vec::new();
        }
        if let Some(age_max) = self.allowance.age_max {
            self.due.retain(|(since, _)| now < *since + age_max);
        }
        let taken = self.take_all();
        if !taken.is_empty() {
            self.quiet_until = now + self.allowance.interval;
        }
        taken
    }

    /// Removes and returns all waiting events, due or not.
    pub(crate) fn take_all(&mut self) -> Vec<T> {
        self.due.drain(..).map(|(_, event)| event).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWANCE: Allowance = Allowance {
        most: 3,
        interval: Duration::from_millis(100),
        age_max: Some(Duration::from_secs(60)),
    };

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    fn rate_limiter(events: impl Iterator<Item = u32>) -> RateLimiter<u32> {
        let mut rate_limiter = RateLimiter::new(ALLOWANCE);
        events.for_each(|event| rate_limiter.push(at(5), event));
        rate_limiter
    }

    #[test]
    fn as_many_as_allowed_happen_at_once_and_of_more_the_newest() {
        for (pushed, taken) in [(0, vec![]), (3, vec![1, 2, 3]), (4, vec![2, 3, 4])] {
            assert_eq!(rate_limiter(1..=pushed).take(at(5)), taken, "{pushed}");
        }
    }

    #[test]
    fn the_next_waits_until_the_interval_is_over() {
        let mut rate_limiter = rate_limiter(1..=1);
        assert_eq!(rate_limiter.take(at(5)), [1]);
        assert_eq!(rate_limiter.poll_timeout(), None);
        rate_limiter.push(at(6), 2);
        assert_eq!(rate_limiter.poll_timeout(), Some(at(105)));
        assert_eq!(rate_limiter.take(at(104)), []);
        assert_eq!(rate_limiter.take(at(105)), [2]);
        rate_limiter.push(at(106), 3);
        assert_eq!(rate_limiter.take_all(), [3], "its time come or not");
    }

    #[test]
    fn an_event_that_is_too_old_never_happens() {
        for (millis, taken) in [(60_004, vec![1]), (60_005, vec![])] {
            let mut rate_limiter = rate_limiter(1..=1);
            assert_eq!(rate_limiter.take(at(millis)), taken, "{millis}");
            assert_eq!(rate_limiter.poll_timeout(), None);
        }
    }
}
