//! What an end knows of the path to its peer, counted for people to look at. No decision hangs on it.

use rove_units::{Bytes, Duration, Instant};

/// Datagrams and what was in them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// How many.
    pub datagrams: u64,
    /// Their UDP payloads.
    pub bytes: Bytes,
}

/// How much of what one end sent did not arrive at the other. A datagram that is late, and not lost, counts until it
/// comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// Sequence numbers the sender has used, as far as the receiver knows.
    pub sent: u64,
    /// Those of them that have not arrived.
    pub missing: u64,
    /// How many of the newest `recent_missing` is of.
    pub recent_sent: u32,
    /// Those of the newest that have not arrived.
    pub recent_missing: u32,
}

/// The path to the peer, as this end sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// The smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Duration>,
    /// How far samples are from it; `None` before the first.
    pub rttvar: Option<Duration>,
    /// The loss on the way here.
    pub loss_in: Loss,
    /// The loss on the way there, as the peer told last; `None` before it has.
    pub loss_out: Option<Loss>,
    /// What was sealed for the peer.
    pub sent: Traffic,
    /// What was authentic.
    pub received: Traffic,
    /// When the newest datagram arrived; `None` before the first.
    pub heard_at: Option<Instant>,
    /// How often a client has changed its local port.
    pub hops: u64,
}

impl Traffic {
    pub(crate) fn count(&mut self, payload_len: usize) {
        let bytes = u64::try_from(payload_len).expect("a datagram's length");
        self.datagrams += 1;
        self.bytes = Bytes::new(self.bytes.get() + bytes);
    }
}
