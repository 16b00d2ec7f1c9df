//! The rule that all losses of one window are one congestion event.

use rove_units::Instant;

/// Distinguishes a new congestion event from further losses of the last event. Packets sent before the cut tell nothing
/// about the new window. Source: RFC 9002, section 7.3.2; RFC 6582, `recover`, but with times.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recovery {
    began: Option<Instant>,
}

impl Recovery {
    /// The state of a flow without any loss.
    pub(crate) const NONE: Self = Self { began: None };

    /// Counts a loss whose newest packet was sent at `sent`. Returns whether the loss is a new congestion event.
    pub(crate) fn begins(&mut self, now: Instant, sent: Instant) -> bool {
        let is_new = !self.covers(sent);
        if is_new {
            self.began = Some(now);
        }
        is_new
    }

    /// Returns whether a packet that was sent at `sent` precedes the last congestion event.
    pub(crate) fn covers(&self, sent: Instant) -> bool {
        self.began.is_some_and(|began| sent <= began)
    }
}
