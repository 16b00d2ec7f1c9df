//! Measurements of the path to the peer. [`Path`] collects them for users to read.

use rove_units::{Bytes, Duration, Instant};

/// A count of datagrams and of their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The number of datagrams.
    pub datagrams: u64,
    /// The sum of the lengths of the datagrams' UDP payloads.
    pub bytes: Bytes,
}

/// How many of one end's datagrams did not arrive at the other end. A late datagram counts as missing until it arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// How many sequence numbers the sender has used, as far as the receiver knows.
    pub sent: u64,
    /// How many of the `sent` numbers have not arrived.
    pub missing: u64,
    /// How many of the newest numbers `recent_missing` covers.
    pub recent_sent: u32,
    /// How many of the newest `recent_sent` numbers have not arrived.
    pub recent_missing: u32,
}

/// Facts that a server learns from an authentic datagram of its client. Both are false at a client.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrival {
    /// Whether a server's client now sends from another address.
    pub(crate) is_peer_moved: bool,
    /// Whether a server's client sends from another address, or again after a silence.
    pub(crate) is_peer_regained: bool,
}

/// The path to the peer, as this end sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// The smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<Duration>,
    /// The variation of the round-trip time (RTTVAR); `None` before the first sample.
    pub rttvar: Option<Duration>,
    /// The loss on the way from the peer to this end.
    pub loss_in: Loss,
    /// The loss on the way to the peer by its newest report. `None` before the first report.
    pub loss_out: Option<Loss>,
    /// The datagrams that were sealed for the peer.
    pub sent: Traffic,
    /// The authentic datagrams that the peer sent and this end received.
    pub received: Traffic,
    /// When the newest datagram of the peer arrived. `None` before the first.
    pub heard_at: Option<Instant>,
    /// How many times this end, if it is a client, has changed its local port; 0 at a server.
    pub hops: u64,
}

impl Traffic {
    pub(crate) fn count(&mut self, payload_len: usize) {
        let bytes = u64::try_from(payload_len).expect("a datagram's length");
        self.datagrams += 1;
        self.bytes = Bytes::new(self.bytes.get() + bytes);
    }
}
