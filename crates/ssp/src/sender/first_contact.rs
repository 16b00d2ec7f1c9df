//! Sends a session's first contents (diffs) again until the peer has acknowledged a state.
//!
//! Before the first round trip, neither end knows how long a round trip takes. So the timers of RFC 6298 start at a
//! second and more. An end sends only heartbeats to a peer from which nothing has arrived. A lost first datagram would
//! delay the session by that time. Small first contents are instead sent again after a fixed wait, which then doubles.
//! If a round trip takes longer than the wait, this costs a datagram or two, once in a session.

use rove_units::{Duration, Instant};

use super::sending::Sending;
use crate::sender::repetition::REPEATED_LEN_MAX;

/// Time after which the first contents are sent again. Chosen: a session whose first datagram is lost begins 200 ms
/// late. Most round trips are shorter, so mostly no datagram is repeated.
const WAIT_MIN: Duration = Duration::from_millis(200);

/// How often a session's first contents are sent again: 200, 600, 1400 and 3000 ms after the first time. Each wait is
/// twice the last. Chosen: after that, heartbeats carry the contents.
const TRIES_MAX: u32 = 4;

/// If the peer repeats its first contents at least this long after this end's last answer, that answer counts as lost.
/// Chosen: [`WAIT_MIN`] less the jitter between two datagrams.
pub(super) const UNHEARD_AFTER: Duration = Duration::from_millis(100);
const _: () = assert!(UNHEARD_AFTER.as_millis() < WAIT_MIN.as_millis());

/// The state of the repetition of first contents, which ends when the peer acknowledges a state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FirstContact {
    /// When the newest contents were last sent. `None` before the first contents, or if they are not to be repeated.
    sent_at: Option<Instant>,
    tries: u32,
    /// Whether the peer has acknowledged any state.
    is_made: bool,
}

impl FirstContact {
    /// Called when contents are sent. They are repeated if their diff is short and starts from the known state.
    pub(super) fn handle_sent(&mut self, sending: &Sending) {
        self.tries += u32::from(sending.stands_alone && sending.due.first_contact);
        let goes_again = sending.stands_alone && sending.diff_len <= REPEATED_LEN_MAX;
        self.sent_at = goes_again.then_some(sending.at);
    }

    pub(super) fn handle_ack(&mut self) {
        self.is_made = true;
    }

    pub(super) const fn is_made(&self) -> bool {
        self.is_made
    }

    /// Returns when to send the newest contents once more. `None` if they are not to be repeated.
    pub(super) fn due(&self) -> Option<Instant> {
        let sent_at = self.sent_at.filter(|_| !self.is_made && self.tries < TRIES_MAX)?;
        Some(sent_at + WAIT_MIN * (1 << self.tries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::StateNum;
    use crate::sender::sending::{Due, Occasion};

    fn sending(at: Instant, diff_len: usize, first_contact: bool) -> Sending {
        let (num, due) = (StateNum::new(1), Due { copy: false, first_contact });
        Sending { at, num, diff_len, stands_alone: true, occasion: Occasion::Other, due }
    }

    #[test]
    fn first_contents_go_again_after_ever_longer_waits_until_heartbeats_serve() {
        let mut contact = FirstContact::default();
        assert_eq!(contact.due(), None, "nothing has been said");
        contact.handle_sent(&sending(Instant::ZERO, 10, false));
        let mut tries = Vec::new();
        while let Some(due) = contact.due() {
            tries.push(due.as_millis());
            contact.handle_sent(&sending(due, 10, true));
        }
        assert_eq!(tries, [200, 600, 1_400, 3_000]);
    }

    #[test]
    fn an_acknowledgment_ends_the_tries_for_good() {
        let mut contact = FirstContact::default();
        contact.handle_sent(&sending(Instant::ZERO, 10, false));
        contact.handle_ack();
        assert_eq!(contact.due(), None);
        contact.handle_sent(&sending(Instant::from_millis(500), 10, false));
        assert_eq!(contact.due(), None);
    }

    #[test]
    fn newer_contents_move_the_next_try_and_large_ones_have_none() {
        let mut contact = FirstContact::default();
        contact.handle_sent(&sending(Instant::ZERO, 10, false));
        contact.handle_sent(&sending(Instant::from_millis(150), 20, false));
        assert_eq!(contact.due(), Some(Instant::from_millis(350)));
        contact.handle_sent(&sending(Instant::from_millis(160), REPEATED_LEN_MAX + 1, false));
        assert_eq!(contact.due(), None);
    }
}
