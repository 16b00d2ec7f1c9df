//! Packets that are read when the next one departs, not as they come.
//!
//! To wake for an arrival costs as much of a processor as to wake for a departure. While the link sends a packet, others
//! that come only wait for it, at whichever instant they come: so they can as well be read when it departs.

use rove_units::{Duration, Instant};

/// Longest time for which packets are left unread.
/// Chosen: a full packet takes 0.24 ms at 50 Mbit/s. At lower rates fewer packets come, and little would be saved.
const DEFERRAL_MAX: Duration = Duration::from_micros(250);

/// Whether the packets of a direction are left unread during a wait, and when they count as having entered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Deferral {
    /// The beginning of the wait.
    since: Instant,
    /// When it begins to matter at which instant a packet enters; `None` if packets are read as they come.
    matters_from: Option<Instant>,
}

impl Deferral {
    /// Decides on a wait from `now` until something is `due`. `matters_from` is the link's
    /// [`entry_matters_from`](rove_link::Link::entry_matters_from).
    pub(super) fn new(now: Instant, due: Instant, matters_from: Option<Instant>) -> Self {
        let is_short = now < due && due.saturating_since(now) <= DEFERRAL_MAX;
        let matters_from = matters_from.filter(|from| is_short && due <= *from);
        Self { since: now, matters_from }
    }

    /// Returns whether packets are left unread.
    pub(super) const fn is_on(&self) -> bool {
        self.matters_from.is_some()
    }

    /// Returns when a packet that is read at `now` enters the link.
    ///
    /// The thread wakes some microseconds after a departure was due. The packets that it then finds have nearly all come
    /// before, and the link would stand still for those microseconds if they entered after them. If the thread was kept
    /// from running, one that came meanwhile departs too early by its own time at the link's rate at most, as none departs
    /// before it is read; if it entered when it is read, it could be too late by all the time that passed.
    pub(super) fn entry(&self, now: Instant) -> Instant {
        self.matters_from.map_or(now, |from| now.min(from - Duration::from_nanos(1)))
    }

    /// Returns when a packet that enters at `entry` came: halfway, as all that is known is that the wait had begun.
    pub(super) fn arrival(&self, entry: Instant) -> Instant {
        if self.is_on() { self.since + entry.saturating_since(self.since) / 2 } else { entry }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(micros)
    }

    #[test]
    fn packets_are_left_unread_for_a_short_wait_in_which_their_entry_does_not_matter() {
        for (due, matters_from, is_on) in [
            (at(1_240), Some(at(1_240)), true),
            // Another packet departs first, and they are read then.
            (at(1_100), Some(at(1_240)), true),
            // The link would be free before the thread is awake.
            (at(1_240), Some(at(1_239)), false),
            (at(1_240), Some(at(900)), false),
            (at(1_240), None, false),
            (at(1_251), Some(at(5_000)), false),
            (Instant::FAR_FUTURE, Some(at(1_240)), false),
            // There is no wait.
            (at(1_000), Some(at(1_240)), false),
        ] {
            let deferral = Deferral::new(at(1_000), due, matters_from);
            assert_eq!(deferral.is_on(), is_on, "{due:?}, {matters_from:?}");
        }
    }

    #[test]
    fn a_packet_enters_before_that_matters_however_late_it_is_read() {
        let deferral = Deferral::new(at(1_000), at(1_240), Some(at(1_240)));
        let last = at(1_240) - Duration::from_nanos(1);
        for (read, entry) in
            [(at(1_100), at(1_100)), (at(1_240), last), (at(1_300), last), (at(9_000), last)]
        {
            assert_eq!(deferral.entry(read), entry, "{read:?}");
        }
        assert_eq!(deferral.arrival(at(1_200)), at(1_100));
        let none = Deferral::new(at(1_000), at(1_240), None);
        assert_eq!((none.entry(at(1_300)), none.arrival(at(1_300))), (at(1_300), at(1_300)));
    }
}
