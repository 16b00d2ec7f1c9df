//! The rule that losses of one window are one event.

use rove_units::Instant;

/// Tells a new congestion event from more of the last one: packets that were sent before the window was cut say nothing of the
/// smaller window. Source: RFC 9002, section 7.3.2; NewReno's `recover` (RFC 6582) by times in place of numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recovery {
    began: Option<Instant>,
}

impl Recovery {
    /// The state of a flow that has lost nothing.
    pub(crate) const NONE: Self = Self { began: None };

    /// Counts a loss of packets of which the newest was sent at `sent`; returns whether the loss is a new event.
    pub(crate) fn begins(&mut self, now: Instant, sent: Instant) -> bool {
        let is_new = !self.covers(sent);
        if is_new {
            self.began = Some(now);
        }
        is_new
    }

    /// Returns whether a packet was sent before the last event.
    pub(crate) fn covers(&self, sent: Instant) -> bool {
        self.began.is_some_and(|began| sent <= began)
    }
}
