//! The parts of a [`Config`](super::Config), each for related mechanisms. "Contents" are an instruction's diff.

use rove_units::Duration;

use crate::heartbeat::PAUSE_MAX;

/// Shortest round-trip sample that may show clock trouble or a suspended host. Source: Mosh 1.4.0 as observed,
/// docs/wire.md.
pub(crate) const SUSPECT_MIN: Duration = Duration::from_secs(5);

/// When contents are sent again before their retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepetitionConfig {
    /// Whether small contents are sent several times, some ms apart, on a path that loses datagrams.
    pub repeats: bool,
    /// Whether small first contents are sent again, first after 200 ms, while the peer has acknowledged nothing.
    pub says_again_at_first: bool,
    /// How long after the peer's last new state the retransmission timeout still sends contents again. After that, only
    /// heartbeats carry them.
    pub active_retry: Duration,
}

impl RepetitionConfig {
    /// The values of these fields in Mosh 1.4.0.
    pub(super) const STOCK: Self =
        Self { repeats: false, says_again_at_first: false, active_retry: Duration::from_secs(10) };

    /// The values of these fields at both ends of rove.
    pub(super) const ROVE: Self = Self { repeats: true, says_again_at_first: true, ..Self::STOCK };
}

/// When instructions with contents (frames) are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameConfig {
    /// How long an unsent change waits, so that later changes share its frame: 8 ms at a server, 1 ms at a client.
    pub collection_delay: Duration,
    /// Time without a further change after which a frame is sent before [`FrameConfig::collection_delay`] is over. A
    /// server sends early only for the first frame that answers new contents from the peer, mostly an echo. It collects
    /// later changes for the whole time. With `Duration::MAX`, no frame is sent early (Mosh 1.4.0). Chosen:
    /// docs/timing.md, "Near paths".
    pub quiet_delay: Duration,
    /// Shortest interval between frames, even if the round trip is shorter.
    pub interval_min: Duration,
    /// Longest interval between frames, even if the round trip is longer.
    pub interval_max: Duration,
    /// Longest interval between a frame and the next frame with new contents. It is at most
    /// [`FrameConfig::interval_max`], which limits the interval before contents are sent again.
    pub news_interval_max: Duration,
    /// Only if both ends offer late acknowledgments ([`Capabilities::LATE_ACK`](crate::Capabilities::LATE_ACK)),
    /// whether or not the path loses datagrams: a third of the round trip, but at most this, replaces a shorter
    /// [`FrameConfig::news_interval_max`]. Chosen: docs/timing.md, "Late acknowledgments".
    pub news_interval_late: Duration,
    /// Replaces [`FrameConfig::news_interval_max`] if at least two waiting changes follow each other as fast as the
    /// repeats of a held key. Chosen: docs/timing.md, "A key that is held".
    pub held_interval_max: Duration,
    /// Replaces [`FrameConfig::news_interval_max`] for output that does not answer recent contents of the peer, on a
    /// path that loses datagrams and has no queue. Chosen: docs/timing.md, "Steady output".
    pub steady_interval_max: Duration,
    /// How many frames after new contents from the peer wait only for [`FrameConfig::collection_delay`] and not for the
    /// frame interval. It is 0 at a client, and at both ends of Mosh 1.4.0. It is 2 at a server, because a key is often
    /// answered by its echo first and then by the program's output. Chosen: docs/timing.md, "Ahead of stock's pace".
    pub answer_frames: u8,
}

impl FrameConfig {
    /// The values of these fields at a server of Mosh 1.4.0. A client differs in [`FrameConfig::collection_delay`].
    pub(super) const STOCK: Self = Self {
        collection_delay: Duration::from_millis(8),
        quiet_delay: Duration::MAX,
        interval_min: Duration::from_millis(20),
        interval_max: Duration::from_millis(250),
        news_interval_max: Duration::from_millis(250),
        news_interval_late: Duration::from_millis(250),
        held_interval_max: Duration::from_millis(250),
        steady_interval_max: Duration::from_millis(250),
        answer_frames: 0,
    };

    /// The values of these fields at a rove client.
    ///
    /// A key's frame follows the previous key's frame after at most 120 ms, or 160 ms with late acknowledgments. At a
    /// Mosh 1.4.0 client, this interval is up to 250 ms. Chosen: docs/timing.md, "Ahead of stock's pace".
    pub(super) const CLIENT: Self = Self {
        collection_delay: Duration::from_millis(1),
        quiet_delay: Duration::ZERO,
        news_interval_max: Duration::from_millis(120),
        news_interval_late: Duration::from_millis(160),
        held_interval_max: Duration::from_millis(20),
        ..Self::STOCK
    };

    /// The values of these fields at a rove server.
    pub(super) const SERVER: Self = Self {
        quiet_delay: Duration::from_micros(500),
        steady_interval_max: Duration::from_millis(80),
        answer_frames: 2,
        ..Self::STOCK
    };
}

/// When acknowledgments are sent, and how long the sender of a state waits for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckConfig {
    /// Longest wait before an arrived state with contents is acknowledged by a separate instruction. Without an
    /// acknowledgment, a sent state is presumed lost after RTO and this delay.
    pub delay: Duration,
    /// Replaces [`AckConfig::delay`] where both ends offer late acknowledgments
    /// ([`Capabilities::LATE_ACK`](crate::Capabilities::LATE_ACK)) and neither direction loses much. Mostly the next
    /// key then carries the acknowledgment. Large contents are still acknowledged after [`AckConfig::delay`]. Chosen:
    /// docs/timing.md, "Late acknowledgments".
    pub delay_late: Duration,
    /// Time beyond RTO after which a sent state is presumed lost if acknowledgments are late. At a server it is as long
    /// as [`AckConfig::delay_late`]. At a client it is shorter, because a server answers most keys at once. A key that
    /// is sent again also makes the server repeat a lost echo. Chosen: docs/timing.md, "Late acknowledgments".
    pub grace_late: Duration,
    /// Longest wait before an acknowledgment interrupts the repair of a large instruction. Chosen: 27 fragments (32
    /// KiB) at 30 % loss need four or five tries at RTO + 100 ms each. Any other instruction between the tries makes
    /// the receiver drop the fragments.
    pub delay_in_repair: Duration,
    /// Whether contents that arrive again are acknowledged again, because the first acknowledgment was probably lost.
    pub acknowledges_again: bool,
    /// Whether the peer's shutdown is acknowledged again if the acknowledgment may be lost. A server does so for some
    /// seconds. A client does so one time, at once.
    pub lingers: bool,
}

impl AckConfig {
    /// The values of these fields in Mosh 1.4.0.
    pub(super) const STOCK: Self = Self {
        delay: Duration::from_millis(100),
        delay_late: Duration::from_millis(100),
        grace_late: Duration::from_millis(100),
        delay_in_repair: Duration::from_millis(1000),
        acknowledges_again: false,
        lingers: false,
    };

    /// The values of these fields at a rove client.
    pub(super) const CLIENT: Self = Self { grace_late: Duration::from_millis(100), ..Self::SERVER };

    /// The values of these fields at a rove server.
    pub(super) const SERVER: Self = Self {
        delay_late: Duration::from_millis(250),
        grace_late: Duration::from_millis(250),
        acknowledges_again: true,
        lingers: true,
        ..Self::STOCK
    };
}

/// How often heartbeats are sent while there is nothing else to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeartbeatConfig {
    /// Usual interval between heartbeats when there is nothing to send.
    pub interval: Duration,
    /// Server: longest interval between heartbeats if the client can answer announced heartbeats. The interval grows
    /// step by step. `PAUSE_MAX` in the module `heartbeat` bounds it.
    pub interval_max: Duration,
    /// Longest interval between heartbeats on a path whose answers take longer than [`HeartbeatConfig::interval`].
    /// There, heartbeats wait for answers. Chosen: a second less than the 6.5 s after which a client reports silence.
    pub interval_far_max: Duration,
}

impl HeartbeatConfig {
    /// The values of these fields in Mosh 1.4.0.
    pub(super) const STOCK: Self = Self {
        interval: Duration::from_secs(3),
        interval_max: Duration::from_secs(3),
        interval_far_max: Duration::from_secs(3),
    };

    /// The values of these fields at both ends of rove.
    pub(super) const ROVE: Self = Self {
        interval_max: PAUSE_MAX,
        interval_far_max: Duration::from_millis(5_500),
        ..Self::STOCK
    };
}

/// Bounds of round trips and of the retransmission timeout (RTO).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttConfig {
    /// Lower bound of RTO.
    pub rto_min: Duration,
    /// Upper bound of RTO. For longer round trips, [`RttConfig::rto_far_max`] replaces it.
    pub rto_max: Duration,
    /// Upper bound of RTO if round trips are longer than [`RttConfig::rto_max`]. With `rto_max`, all contents on their
    /// way would count as lost. Chosen: twice the longest round trip that Mosh 1.4.0 measures. A peer with wrong
    /// timestamps delays repairs no longer than a heartbeat, which carries all contents that are not acknowledged.
    pub rto_far_max: Duration,
    /// Samples of this length or more do not count as round trips. Chosen: about half of the 65.5 s after which 16-bit
    /// timestamps repeat. With the 5 s of Mosh 1.4.0, an end cannot measure a round trip of 5 s.
    pub rtt_max: Duration,
}

impl RttConfig {
    /// The values of these fields in Mosh 1.4.0.
    pub(super) const STOCK: Self = Self {
        rto_min: Duration::from_millis(50),
        rto_max: Duration::from_millis(1000),
        rto_far_max: Duration::from_millis(1000),
        rtt_max: SUSPECT_MIN,
    };

    /// The values of these fields at both ends of rove.
    pub(super) const ROVE: Self = Self {
        rto_far_max: Duration::from_secs(10),
        rtt_max: Duration::from_secs(30),
        ..Self::STOCK
    };
}

/// When a client changes its port or the server's address, when a server stops sending, and whether sizes are probed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathConfig {
    /// Server: how long the server goes on sending after the newest datagram from its client.
    pub association_timeout: Duration,
    /// Client: how long the client stays on one local port without a round trip. Then it opens another port.
    pub hop_interval: Duration,
    /// Client: how long after a change of its local port the driver keeps the older ports open.
    pub old_ports_kept: Duration,
    /// Client: how long at the start the client sends only to the first of its server's addresses. If a round trip
    /// takes longer, a datagram goes to each other address. Chosen: docs/timing.md, "Addresses that do not answer".
    pub first_alone: Duration,
    /// Whether an end probes for larger datagrams than every path carries, and sends smaller ones if large ones are
    /// lost. Otherwise datagrams have the fixed size of Mosh 1.4.0.
    pub tries_sizes: bool,
}

impl PathConfig {
    /// The values of these fields in Mosh 1.4.0.
    pub(super) const STOCK: Self = Self {
        association_timeout: Duration::from_secs(40),
        hop_interval: Duration::from_secs(10),
        old_ports_kept: Duration::from_secs(60),
        first_alone: Duration::from_millis(500),
        tries_sizes: false,
    };

    /// The values of these fields at both ends of rove.
    pub(super) const ROVE: Self = Self { tries_sizes: true, ..Self::STOCK };
}
