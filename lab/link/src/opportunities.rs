//! Delivery opportunities in use: the next one, and the bytes that are left of the current one.

use rove_units::{Bytes, Instant};

use crate::tally::Tally;
use crate::trace::Schedule;

/// A bottleneck that carries a number of bytes at each of the times of a schedule.
#[derive(Clone, Debug)]
pub(crate) struct Opportunities {
    pub(crate) schedule: Schedule,
    /// The number of the next opportunity and its time; `None` while nothing waits for one.
    next: Option<(u64, Instant)>,
    /// The time of the opportunity at hand.
    pub(crate) at: Instant,
    /// Bytes that are left of it.
    pub(crate) left: Bytes,
}

impl Opportunities {
    pub(crate) const fn new(schedule: Schedule) -> Self {
        Self { schedule, next: None, at: Instant::ZERO, left: Bytes::ZERO }
    }

    /// Waits for the first opportunity after `now`, unless one is waited for already. Opportunities at `now` itself are over.
    pub(crate) fn wait(&mut self, now: Instant) {
        if self.next.is_none() {
            self.look_at(self.schedule.first_after(now));
        }
    }

    /// Follows every opportunity from the first of the schedule on, used or not.
    pub(crate) fn follow_all(&mut self) {
        if self.next.is_none() {
            self.look_at(self.schedule.first());
        }
    }

    /// Goes on to the next opportunity, if it comes by `until`, and returns whether it did.
    pub(crate) fn take(&mut self, until: Instant, tally: &mut Tally) -> bool {
        let Some((number, at)) = self.next.filter(|(_, at)| *at <= until) else { return false };
        self.at = at;
        self.left = self.schedule.opportunity;
        self.look_at(number + 1);
        tally.opportunity(at, self.left);
        true
    }

    /// Forgets the next opportunity, as nothing waits for it.
    pub(crate) fn rest(&mut self) {
        self.next = None;
    }

    /// Returns when the next one comes; `None` if none does.
    pub(crate) fn next_time(&self) -> Option<Instant> {
        self.next.map(|(_, at)| at).filter(|at| *at < Instant::FAR_FUTURE)
    }

    fn look_at(&mut self, number: u64) {
        // After the end of a trace that is played once the next one never comes.
        self.next = Some((number, self.schedule.time(number).unwrap_or(Instant::FAR_FUTURE)));
    }
}
