//! A packet on its way through the stages of a link.

use core::fmt;

use rove_units::{Bytes, Duration, Instant};

use crate::loss::Fate;

/// Which packet: its number among those that entered the link, from 0, and whether it is the copy of that packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PacketId {
    /// The number of the packet that entered.
    pub number: u64,
    /// Whether this is its duplicate.
    pub is_copy: bool,
}

impl fmt::Display for PacketId {
    /// Writes the number, with a `c` after that of a copy.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.number, if self.is_copy { "c" } else { "" })
    }
}

/// A packet with what was decided on it when it entered.
#[derive(Clone, Debug)]
pub(crate) struct Item<P> {
    pub(crate) packet: P,
    pub(crate) id: PacketId,
    /// The flow that it belongs to, where the queue asks for that.
    pub(crate) flow: u16,
    /// Bytes that it counts in the queue and at the bottleneck: its length and the overhead.
    pub(crate) size: Bytes,
    /// When it entered the link.
    pub(crate) entered: Instant,
    /// When it came to the queue.
    pub(crate) queued: Instant,
    /// Its delay, jitter included.
    pub(crate) propagation: Duration,
    pub(crate) fate: Fate,
}
