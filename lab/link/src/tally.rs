//! Counts the packets of a link by their outcomes, and records the link's events.

use rove_units::{Bytes, Instant};

use crate::event::{Event, EventKind};
use crate::item::{DROP_CAUSES, DropCause, Item};
use crate::line::DelayLine;

/// Most recorded events of a link that wait to be read. Beyond this number, newer events are not recorded. Chosen: a
/// second of 100 000 packets, each with its few events.
const EVENTS_MAX: usize = 1 << 19;

/// Counters of the packets of a link so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Number of packets that entered the link.
    pub entered: u64,
    /// Number of copies made by duplication.
    pub duplicated: u64,
    /// Number of packets that left the link, copies included.
    pub delivered: u64,
    dropped: [u64; DROP_CAUSES.len()],
}

impl LinkStats {
    /// Returns how many packets were dropped for `cause`, copies included.
    pub const fn dropped_by(&self, cause: DropCause) -> u64 {
        self.dropped[cause as usize]
    }

    /// Returns how many packets were dropped for any cause, copies included.
    pub fn dropped(&self) -> u64 {
        self.dropped.iter().sum()
    }
}

/// The counters of a link and, if a caller records them, its events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) stats: LinkStats,
    /// The events by their time in the model. A departure is recorded when the transmission begins, before it happens.
    /// `None`: events are not recorded.
    events: Option<DelayLine<EventKind>>,
}

impl Tally {
    /// Records events from this call on.
    pub(crate) fn record(&mut self) {
        self.events.get_or_insert_default();
    }

    pub(crate) const fn is_recording(&self) -> bool {
        self.events.is_some()
    }

    pub(crate) fn note(&mut self, at: Instant, kind: impl FnOnce() -> EventKind) {
        if let Some(events) = &mut self.events
            && events.len() < EVENTS_MAX
        {
            events.push(at, kind());
        }
    }

    /// Counts a dropped packet, and records the event.
    pub(crate) fn dropped<P>(&mut self, at: Instant, item: &Item<P>, cause: DropCause) {
        self.stats.dropped[cause as usize] += 1;
        self.note(at, || EventKind::Dropped { id: item.id, size: item.size, cause });
    }

    pub(crate) fn departed<P>(&mut self, at: Instant, item: &Item<P>) {
        debug_assert!(item.queued <= at, "no packet departs before it is queued");
        let (id, size, waited) = (item.id, item.size, at.saturating_since(item.queued));
        self.note(at, || EventKind::Departed { id, size, waited });
    }

    pub(crate) fn opportunity(&mut self, at: Instant, size: Bytes) {
        self.note(at, || EventKind::Opportunity { size });
    }

    /// Removes and returns the oldest event that has happened by `now`. `None` if there is none.
    pub(crate) fn poll_event(&mut self, now: Instant) -> Option<Event> {
        let (at, kind) = self.events.as_mut()?.pop(now)?;
        Some(Event { at, kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_has_a_counter_of_its_own() {
        for (index, (cause, name)) in DROP_CAUSES.into_iter().enumerate() {
            assert_eq!((cause as usize, &*cause.to_string()), (index, name));
        }
    }

    #[test]
    fn events_that_nobody_reads_have_a_bound() {
        let mut tally = Tally::default();
        tally.record();
        for _ in 0..=EVENTS_MAX {
            tally.opportunity(Instant::ZERO, Bytes::ZERO);
        }
        assert_eq!(core::iter::from_fn(|| tally.poll_event(Instant::ZERO)).count(), EVENTS_MAX);
    }
}
