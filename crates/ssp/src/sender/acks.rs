//! The acknowledgment that this end owes the peer: the acknowledged state, since when and for how long it waits.

use rove_units::{Duration, Instant};

use crate::num::StateNum;
use crate::send_timing::SendTiming;

/// The acknowledgment of the peer's newest state, and whether it is still to be sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Acks {
    /// The number of the peer's newest state.
    pub(super) num: StateNum,
    wanted_since: Option<Instant>,
    /// Whether the acknowledgment is to be sent at once.
    is_urgent: bool,
    /// Whether this end has acknowledged any state of the peer.
    has_acknowledged: bool,
    /// Whether the peer's newest contents (a diff) are large. The peer may wait for their acknowledgment to send more.
    pub(super) is_remote_large: bool,
}

impl Acks {
    /// Asks for an acknowledgment, even if it repeats an earlier one. Its delay counts from `since`.
    pub(crate) fn want(&mut self, since: Instant) {
        self.wanted_since.get_or_insert(since);
    }

    /// Asks for an acknowledgment without a delay.
    pub(crate) fn want_at_once(&mut self, now: Instant) {
        self.want(now);
        self.is_urgent = true;
    }

    /// Called when an instruction is sent, because every instruction carries the acknowledgment.
    pub(super) fn handle_sent(&mut self) {
        (self.wanted_since, self.is_urgent) = (None, false);
        self.has_acknowledged |= self.num != StateNum::INITIAL;
    }

    /// Returns when a wanted acknowledgment is due. `None` if none is wanted. The delay is longer while the
    /// acknowledgment would interrupt a repair. Late acknowledgments start once the peer has acknowledged a state
    /// (`known`), because the loss is unknown until then.
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
            // The peer has no round-trip sample until this end's first answer echoes its timestamp. Until then the
            // peer's frames are 250 ms apart, and a shell's first prompt would wait for a delayed acknowledgment.
            Duration::ZERO
        };
        self.wanted_since.map(|since| since + delay)
    }
}
