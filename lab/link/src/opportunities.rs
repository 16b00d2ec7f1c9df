//! The delivery opportunities of a bottleneck: the next one, and the unused bytes of the current one.

use rove_units::{Bytes, Instant};

use crate::tally::Tally;
use crate::trace::Schedule;

/// A bottleneck that can carry a fixed number of bytes at each time of a schedule.
#[derive(Clone, Debug)]
pub(crate) struct Opportunities {
    pub(crate) schedule: Schedule,
    /// The number and time of the next opportunity. `None` while no packet waits and no log records opportunities.
    next: Option<(u64, Instant)>,
    /// The time of the current opportunity.
    pub(crate) at: Instant,
    /// Unused bytes of the current opportunity.
    pub(crate) left: Bytes,
}

impl Opportunities {
    pub(crate) const fn new(schedule: Schedule) -> Self {
        Self { schedule, next: None, at: Instant::ZERO, left: Bytes::ZERO }
    }

    /// Sets the next opportunity to the first one after `now`, unless it is set already.
    pub(crate) fn wait(&mut self, now: Instant) {
        if self.next.is_none() {
            self.look_at(self.schedule.first_after(now));
        }
    }

    /// Sets the next opportunity to the first one of the schedule, unless it is set already.
    pub(crate) fn follow_all(&mut self) {
        if self.next.is_none() {
            self.look_at(self.schedule.first());
        }
    }

    /// Makes the next opportunity the current one, if its time is not after `until`. Returns whether it did so.
    pub(crate) fn take(&mut self, until: Instant, tally: &mut Tally) -> bool {
        let Some((number, at)) = self.next.filter(|(_, at)| *at <= until) else { return false };
        debug_assert!(self.at <= at, "opportunities are used in the order of their times");
        self.at = at;
        self.left = self.schedule.opportunity;
        self.look_at(number + 1);
        tally.opportunity(at, self.left);
        true
    }

    /// Forgets the next opportunity, because no packet waits for one.
    pub(crate) fn rest(&mut self) {
        self.next = None;
    }

    /// Returns the time of the next opportunity. `None` if the schedule has ended, or if no packet waits.
    pub(crate) fn next_time(&self) -> Option<Instant> {
        self.next.map(|(_, at)| at).filter(|at| *at < Instant::FAR_FUTURE)
    }

    fn look_at(&mut self, number: u64) {
        // After the end of a trace that does not repeat, there is no next opportunity.
        self.next = Some((number, self.schedule.time(number).unwrap_or(Instant::FAR_FUTURE)));
    }
}
