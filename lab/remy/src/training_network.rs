//! Training network: a network on which a controller is tried. The output of commands calls it a specimen.

use rove_runs::statistics::whole;
use serde::{Deserialize, Serialize};

/// A network in which several senders share a queue and a link. In the publications, packets have 1250 bytes, so that 1
/// packet per ms is 10 Mbit/s.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) struct TrainingNetwork {
    /// The link's rate.
    pub(crate) packets_per_ms: f64,
    /// The propagation delay of a round trip.
    pub(crate) rtt_ms: f64,
    /// The number of senders.
    pub(crate) senders: usize,
    /// The mean time for which a sender has data. The times are distributed exponentially.
    pub(crate) mean_on_ms: f64,
    /// The mean time for which a sender has no data. The times are distributed exponentially.
    pub(crate) mean_off_ms: f64,
    /// Most packets that wait for the link. `None` for a queue without a limit.
    pub(crate) buffer_packets: Option<usize>,
    /// The share of packets that is lost after the link.
    pub(crate) loss: f64,
    /// A session whose packets wait in the same queue. `None` for no session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) typing: Option<Typing>,
}

/// A person who types in a session. Each key is a small packet that travels as the senders' packets do.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Typing {
    /// The mean pause between two keys. The pauses are distributed exponentially.
    pub(crate) mean_gap_ms: f64,
    /// The size of a key's packet, as a multiple of the size of a sender's packet.
    pub(crate) size: f64,
}

impl TrainingNetwork {
    /// Returns the transmission time of a packet on the link, in ns.
    pub(crate) fn transmission_nanos(&self) -> u64 {
        nanos(1.0 / self.packets_per_ms).max(1)
    }

    /// Returns the transmission time of a key's packet on the link, in ns.
    pub(crate) fn key_transmission_nanos(&self) -> u64 {
        nanos(self.typing.map_or(0.0, |typing| typing.size) / self.packets_per_ms).max(1)
    }
}

/// Converts ms into ns.
pub(crate) fn nanos(millis: f64) -> u64 {
    whole(millis * 1e6)
}

/// Converts ns into ms.
pub(crate) fn millis(nanos: u64) -> f64 {
    nanos as f64 * 1e-6
}
