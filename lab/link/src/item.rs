//! A packet on its way through the stages of a link, and the decisions about it.

use core::fmt;

use rove_units::{Bytes, Duration, Instant};

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

/// Outcome of loss and duplication for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It goes on.
    Passes,
    /// It goes on, and a copy with it.
    Doubled,
    /// It is lost.
    Lost(DropCause),
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropCause {
    /// Lost by chance on its own, or on request.
    Loss,
    /// Lost by the Gilbert-Elliott channel.
    BurstLoss,
    /// It came in an outage or in an off period.
    Outage,
    /// The delay line was full.
    LineFull,
    /// The queue was full.
    QueueFull,
    /// CoDel dropped it.
    CoDel,
    /// PIE dropped it.
    Pie,
    /// It is larger than the path takes, or than the token bucket, and would never pass.
    TooLarge,
}

impl DropCause {
    /// All causes, in the order of their declaration.
    pub const ALL: [Self; 8] = [
        Self::Loss,
        Self::BurstLoss,
        Self::Outage,
        Self::LineFull,
        Self::QueueFull,
        Self::CoDel,
        Self::Pie,
        Self::TooLarge,
    ];
}

impl fmt::Display for DropCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loss => "loss",
            Self::BurstLoss => "burst-loss",
            Self::Outage => "outage",
            Self::LineFull => "line-full",
            Self::QueueFull => "queue-full",
            Self::CoDel => "codel",
            Self::Pie => "pie",
            Self::TooLarge => "too-large",
        })
    }
}
