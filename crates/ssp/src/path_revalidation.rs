//! Schedules the datagrams that a client repeats after its network has changed.
//!
//! Without these repetitions, a client that has moved to another network would reach its server at its next heartbeat
//! or retransmission, up to 3 s later. Instead, the client repeats its newest payload as soon as the system reports
//! another interface, address or route. The report may come before the path works. So further tries follow, each after
//! twice the previous wait. They end once a datagram sent after the change has been answered. After the last try,
//! heartbeats have the same effect.

use rove_units::{Duration, Instant};

/// Time from the first try to the second. Chosen: a newly leased address often has no routes during this time.
const WAIT_MIN: Duration = Duration::from_millis(250);

/// Longest wait between tries after a network change. Chosen: below the heartbeat interval; heartbeats act as tries.
const WAIT_MAX: Duration = Duration::from_secs(2);

/// Shortest mean time between the first tries after successive network changes. Chosen: a computer that makes and
/// removes virtual interfaces all day sends at most one datagram a second because of them.
const INTERVAL: Duration = Duration::from_secs(1);

/// Time by which first tries may run ahead of the mean rate of one try in each [`INTERVAL`]. Chosen: an interface that
/// comes up makes several changes in a row, as it gets an address of each family and a route.
const BURST: Duration = Duration::from_secs(4);

/// The tries to reach the server since the newest network change.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PathRevalidation {
    /// When the network last changed. `None` once a datagram sent later has been answered.
    changed_at: Option<Instant>,
    /// When the next try is due. `None` if no try is planned.
    due: Option<Instant>,
    /// Wait between the newest try and the next. `None` before the first try after a change.
    wait: Option<Duration>,
    /// Limits the rate: each first try after a network change moves this time by an [`INTERVAL`], from its value or
    /// from now if that is later. A first try waits until this time is at most [`BURST`] after now.
    paid_at: Instant,
}

impl PathRevalidation {
    /// Called when the network of this computer has changed. The first try is then due, in most cases at once.
    pub(crate) fn handle_change(&mut self, now: Instant) {
        self.changed_at = Some(now);
        self.due = Some(now.max(self.paid_at - BURST));
        self.wait = None;
    }

    /// Records that the datagram sent at `sent_at` has been answered. If it was sent after the change, the tries end.
    pub(crate) fn handle_roundtrip(&mut self, sent_at: Instant) {
        if self.changed_at.is_some_and(|changed_at| changed_at <= sent_at) {
            (self.changed_at, self.due) = (None, None);
        }
    }

    /// Returns whether no datagram sent since the newest change has been answered.
    pub(crate) const fn is_unanswered(&self) -> bool {
        self.changed_at.is_some()
    }

    pub(crate) const fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Returns whether to send a try now; if so, plans the next one.
    pub(crate) fn poll(&mut self, now: Instant) -> bool {
        if self.due.is_none_or(|due| now < due) {
            return false;
        }
        if self.wait.is_none() {
            self.paid_at = self.paid_at.max(now) + INTERVAL;
        }
        let wait = self.wait.map_or(WAIT_MIN, |wait| 2 * wait);
        self.wait = Some(wait);
        self.due = (wait <= WAIT_MAX).then(|| now + wait);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    /// Returns the times in ms, up to `until`, of all tries after network changes at the times `changes`.
    fn tries(revalidation: &mut PathRevalidation, changes: &[u64], until: u64) -> Vec<u64> {
        let mut found = Vec::new();
        for now in 0..=until {
            if changes.contains(&now) {
                revalidation.handle_change(at(now));
            }
            while revalidation.poll(at(now)) {
                found.push(now);
            }
        }
        found
    }

    #[test]
    fn a_change_is_tried_at_once_and_ever_more_rarely_until_heartbeats_serve() {
        let mut revalidation = PathRevalidation::default();
        assert_eq!(tries(&mut revalidation, &[], 9_000), [0; 0]);
        assert_eq!(tries(&mut revalidation, &[100], 9_000), [100, 350, 850, 1_850, 3_850]);
        assert_eq!(revalidation.due(), None);
    }

    #[test]
    fn only_an_answer_to_what_was_sent_since_ends_the_tries() {
        let mut revalidation = PathRevalidation::default();
        revalidation.handle_change(at(100));
        assert!(revalidation.poll(at(100)));
        revalidation.handle_roundtrip(at(99));
        assert_eq!(revalidation.due(), Some(at(350)));
        revalidation.handle_roundtrip(at(100));
        assert_eq!(revalidation.due(), None);
        assert!(!revalidation.poll(at(10_000)));
    }

    #[test]
    fn the_steps_in_which_a_network_comes_up_are_each_tried_at_once() {
        let steps = [0, 30, 60, 200];
        assert_eq!(tries(&mut PathRevalidation::default(), &steps, 300), steps);
    }

    #[test]
    fn a_network_that_changes_all_the_time_is_tried_once_a_second() {
        let changes: Vec<u64> = (0..60_000).step_by(10).collect();
        let mut revalidation = PathRevalidation::default();
        let found = tries(&mut revalidation, &changes, 60_000);
        assert!(found.len() <= 60 + 4 + 4, "{}", found.len());
        assert!(found.len() >= 60, "{}", found.len());
    }
}
