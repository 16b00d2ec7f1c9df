//! A packet inside a link, with the random decisions about it.

use core::fmt;

use rove_units::{Bytes, Duration, Instant};

/// Identifies a packet of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PacketId {
    /// The packet's position among all packets that entered the link, from 0.
    pub number: u64,
    /// Whether this is the duplicate of the packet that entered.
    pub is_copy: bool,
}

impl fmt::Display for PacketId {
    /// Writes the number, and `c` after it for a copy.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.number, if self.is_copy { "c" } else { "" })
    }
}

/// A packet inside a link, with the random decisions made when it entered.
#[derive(Clone, Debug)]
pub(crate) struct Item<P> {
    pub(crate) packet: P,
    pub(crate) id: PacketId,
    /// The number of the packet's flow. 0 unless the queue discipline distinguishes flows.
    pub(crate) flow: u16,
    /// Bytes that the queue and the bottleneck count for the packet: its length and the overhead.
    pub(crate) size: Bytes,
    /// When the packet entered the link.
    pub(crate) entered: Instant,
    /// When the packet arrived at the queue.
    pub(crate) queued: Instant,
    /// The packet's time in the delay line, jitter included.
    pub(crate) propagation: Duration,
    pub(crate) fate: Fate,
}

/// The outcome of loss and duplication for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The packet passes.
    Passes,
    /// The packet and a copy of it pass.
    Doubled,
    /// The packet is lost.
    Lost(DropCause),
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropCause {
    /// The packet was lost by independent chance, or because of [`crate::Link::drop_next`].
    Loss,
    /// The Gilbert-Elliott channel lost the packet, in the channel's bad or good state.
    BurstLoss,
    /// The packet arrived in an outage or in an off period.
    Outage,
    /// The delay line was full when the packet arrived at it.
    LineFull,
    /// The queue was full. This drops the arriving packet, or an older one with `DropHead` and `Fair`.
    QueueFull,
    /// CoDel dropped the packet.
    CoDel,
    /// PIE dropped the packet.
    Pie,
    /// The packet is larger than the path's MTU or the token bucket, and would never pass.
    TooLarge,
}

/// All causes with their names, in the order of their declaration.
pub(crate) const DROP_CAUSES: [(DropCause, &str); 8] = [
    (DropCause::Loss, "loss"),
    (DropCause::BurstLoss, "burst-loss"),
    (DropCause::Outage, "outage"),
    (DropCause::LineFull, "line-full"),
    (DropCause::QueueFull, "queue-full"),
    (DropCause::CoDel, "codel"),
    (DropCause::Pie, "pie"),
    (DropCause::TooLarge, "too-large"),
];

impl fmt::Display for DropCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(DROP_CAUSES[*self as usize].1)
    }
}
