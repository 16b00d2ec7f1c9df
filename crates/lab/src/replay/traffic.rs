//! What an end offers to the link.

use rove_units::{Bytes, Instant};

/// What IPv4 and UDP put before a payload. Source: RFC 791, RFC 768.
pub(super) const HEADER: Bytes = Bytes::new(28);

/// Datagrams from some instant on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    /// From when on they count; `None` for not yet.
    pub(super) from: Option<Instant>,
    pub(super) datagrams: u64,
    /// With the headers of IPv4 and UDP.
    pub(super) bytes: Bytes,
}

impl Traffic {
    /// Counts a datagram.
    pub(super) fn count(&mut self, now: Instant, payload: &[u8]) {
        if self.from.is_some_and(|from| from <= now) {
            self.datagrams += 1;
            self.bytes += HEADER + Bytes::from(payload.len());
        }
    }

    /// Returns both together.
    #[must_use]
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            from: self.from,
            datagrams: self.datagrams + other.datagrams,
            bytes: self.bytes + other.bytes,
        }
    }
}
