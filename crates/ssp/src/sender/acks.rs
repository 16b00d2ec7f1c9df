//! The acknowledgment that this end owes the peer: of which state, since when, and how long it waits for company.

use rove_units::{Duration, Instant};

use crate::num::StateNum;
use crate::send_timing::SendTiming;

/// The acknowledgment of the peer's newest state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Acks {
    /// The peer's newest state.
    pub(super) num: StateNum,
    wanted_since: Option<Instant>,
    /// Whether the acknowledgment waits for no company.
    is_urgent: bool,
    /// Whether anything of the peer's has been acknowledged.
    has_acknowledged: bool,
    /// Whether the peer's newest contents are large: more may wait for their acknowledgment.
    pub(super) is_remote_large: bool,
}

impl Acks {
    /// Asks for an acknowledgment soon, as of `since`, whether or not it says anything new.
    pub(crate) fn want(&mut self, since: Instant) {
        self.wanted_since.get_or_insert(since);
    }

    /// Asks for an acknowledgment now.
    pub(crate) fn want_at_once(&mut self, now: Instant) {
        self.want(now);
        self.is_urgent = true;
    }

    /// Called when an instruction is sent: each acknowledges.
    pub(super) fn handle_sent(&mut self) {
        (self.wanted_since, self.is_urgent) = (None, false);
        self.has_acknowledged |= self.num != StateNum::INITIAL;
    }

    /// Returns when the acknowledgment is to go at the latest, if it is wanted. It would interrupt a repair, and until `known` is
    /// acknowledged nobody knows what the path loses.
    pub(super) fn due(
        &self,
        is_in_repair: bool,
        known: StateNum,
        timing: &SendTiming,
    ) -> Option<Instant> {
        let delay = if is_in_repair {
            timing.config.acks.delay_in_repair
        } else if self.has_acknowledged && !self.is_urgent {
            let is_late = !self.is_remote_large && known != StateNum::INITIAL;
            if is_late { timing.ack_delay } else { timing.config.acks.delay }
        } else {
            // The peer has no round-trip sample until our first answer echoes its timestamp. Until
            // then its frames are 250 ms apart: a shell's first prompt would wait for this delay.
            Duration::ZERO
        };
        self.wanted_since.map(|since| since + delay)
    }
}
