//! Counts of datagrams and their bytes.

use rove_units::{Bytes, Instant};

/// Bytes of the headers of IPv4 and UDP before a payload. Source: RFC 791, RFC 768.
pub const HEADERS: Bytes = Bytes::new(28);

/// Counts of the datagrams that an end has sent or received since `from`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The instant from which datagrams count.
    pub from: Instant,
    /// The number of datagrams.
    pub datagrams: u64,
    /// The bytes of the datagrams' UDP payloads.
    pub payload: Bytes,
}

impl Traffic {
    /// Returns the bytes of payloads and headers of IPv4 and UDP.
    pub fn bytes(&self) -> Bytes {
        Bytes::new(self.payload.get() + self.datagrams * HEADERS.get())
    }

    /// Returns the sum of two counts, with the `from` of the first.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            from: self.from,
            datagrams: self.datagrams + other.datagrams,
            payload: self.payload + other.payload,
        }
    }

    pub(crate) fn count(&mut self, now: Instant, payload: &[u8]) {
        if self.from <= now {
            self.datagrams += 1;
            self.payload += Bytes::from(payload.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_count_from_the_instant_on_and_with_their_headers() {
        let mut traffic = Traffic { from: Instant::from_millis(5), ..Traffic::default() };
        traffic.count(Instant::from_millis(4), &[0; 100]);
        traffic.count(Instant::from_millis(5), &[0; 10]);
        traffic.count(Instant::from_millis(6), &[0; 20]);
        assert_eq!((traffic.datagrams, traffic.bytes()), (2, Bytes::new(30 + 2 * 28)));
        assert_eq!(traffic.plus(traffic).bytes(), Bytes::new(2 * (30 + 2 * 28)));
    }
}
