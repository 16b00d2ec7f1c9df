//! Delivery opportunities in use: the next one, and the bytes left of the current one.

use rove_units::{Bytes, Instant};

use crate::tally::Tally;
use crate::trace::Schedule;

/// A bottleneck that can carry a number of bytes at each time of a schedule.
#[derive(Clone, Debug)]
pub(crate) struct Opportunities {
    pub(crate) schedule: Schedule,
    /// The number and time of the next opportunity. `None` while no packet waits for one.
    next: Option<(u64, Instant)>,
    /// The time of the current opportunity.
    pub(crate) at: Instant,
    /// Bytes that are left of the current opportunity.
    pub(crate) left: Bytes,
}

impl Opportunities {
    pub(crate) const fn new(schedule: Schedule) -> Self {
        Self { schedule, next: None, at: Instant::ZERO, left: Bytes::ZERO }
    }

    /// Begins to wait for the first opportunity after `now`, if none is waited for. An opportunity at `now` has passed.
    pub(crate) fn wait(&mut self, now: Instant) {
        if self.next.is_none() {
            self.look_at(self.schedule.first_after(now));
        }
    }

    /// Begins with the first opportunity of the schedule, if none is waited for yet.
    pub(crate) fn follow_all(&mut self) {
        if self.next.is_none() {
            self.look_at(self.schedule.first());
        }
    }

    /// Moves on to the next opportunity, if it is at `until` or earlier. Returns whether it is.
    pub(crate) fn take(&mut self, until: Instant, tally: &mut Tally) -> bool {
        let Some((number, at)) = self.next.filter(|(_, at)| *at <= until) else { return false };
        debug_assert!(self.at <= at, "opportunities are used in the order of their times");
        self.at = at;
        self.left = self.schedule.opportunity;
        self.look_at(number + 1);
        tally.opportunity(at, self.left);
        true
    }

    /// Stops waiting for the next opportunity, because no packet needs it.
    pub(crate) fn rest(&mut self) {
        self.next = None;
    }

    /// Returns when the next opportunity is. `None` if there is no next one, or if no packet waits for it.
    pub(crate) fn next_time(&self) -> Option<Instant> {
        self.next.map(|(_, at)| at).filter(|at| *at < Instant::FAR_FUTURE)
    }

    fn look_at(&mut self, number: u64) {
        // After the end of a trace that is played once, there is no next opportunity.
        self.next = Some((number, self.schedule.time(number).unwrap_or(Instant::FAR_FUTURE)));
    }
}
