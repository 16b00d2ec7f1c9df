//! The interface between a flow and its congestion controller.
//!
//! A flow calls [`Controller::on_start`] first, then [`Controller::on_sent`] for each packet. It calls
//! [`Controller::on_ack`] for each acknowledged packet, followed by one [`Controller::on_end_acks`] for the batch, and
//! [`Controller::on_loss`] for lost packets. It sends a packet if the bytes in flight and the packet fit
//! [`Controller::window`], and [`Controller::spacing`] has passed since the last packet. Times passed in never go
//! backwards. A packet is acknowledged or lost at most once.
//!
//! The calls correspond to those of `quinn`'s `congestion::Controller`, so that an adapter is short.

use core::fmt::Debug;

use rove_units::{Bytes, Duration, Instant};

/// A packet that the receiver has acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// When the packet was sent.
    pub sent: Instant,
    /// When the packet arrived, by a clock with a constant and unknown offset. Only differences have a meaning. If the
    /// receiver does not report the time, this is the time of the acknowledgment.
    pub received: Instant,
    /// The size of the packet.
    pub size: Bytes,
    /// The round-trip time of the packet, without the time for which the receiver says it held the acknowledgment.
    pub rtt: Duration,
    /// Bytes still in flight, without this packet.
    pub in_flight: Bytes,
    /// Whether the flow had less to send than the window allowed, so that the window did not limit the flow.
    pub is_app_limited: bool,
}

/// Packets that were declared lost, or a congestion mark of a router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// When the newest lost packet was sent.
    pub sent: Instant,
    /// Bytes of the lost packets; zero if a router has only marked a packet.
    pub size: Bytes,
    /// Bytes still in flight, without the lost packets.
    pub in_flight: Bytes,
    /// Whether all packets were lost for so long that the controller must forget its measurements of the path. Such a
    /// loss is persistent congestion (RFC 9002, section 7.6), or the retransmission timeout of RFC 5681.
    pub is_persistent: bool,
}

/// A congestion controller: decides how many bytes of a flow may be in flight, and how fast packets are sent.
pub trait Controller: Debug + Send {
    /// Called when the flow begins, or begins again after its end. The controller may forget its measurements of the
    /// path.
    fn on_start(&mut self, _now: Instant) {}

    /// Called when a packet of `size` has been sent. `in_flight` includes the packet.
    fn on_sent(&mut self, _now: Instant, _size: Bytes, _in_flight: Bytes) {}

    /// Called for each packet that the receiver acknowledges.
    fn on_ack(&mut self, now: Instant, ack: &Ack);

    /// Called after all packets that one datagram acknowledges were passed to [`Controller::on_ack`].
    fn on_end_acks(&mut self, _now: Instant, _in_flight: Bytes, _is_app_limited: bool) {}

    /// Called when packets are declared lost. A single call reports all losses that are found at the same time.
    fn on_loss(&mut self, now: Instant, loss: &Loss);

    /// Called when a packet that was declared lost has arrived, and no other packet is missing. It was sent at `sent`.
    /// If the last reaction to a loss came later, the controller may undo this reaction.
    fn on_spurious_loss(&mut self, _sent: Instant) {}

    /// Called when a queue on the path does harm. A person waits for an echo over this path, or the peer also sends
    /// much data and waits for acknowledgments. The controller may keep its queue shorter for a while.
    fn on_interaction(&mut self, _now: Instant) {}

    /// Called at the time that [`Controller::poll_timeout`] returned. A caller without timers may leave this out,
    /// because every call advances the controller's time.
    fn on_tick(&mut self, _now: Instant) {}

    /// Returns when [`Controller::on_tick`] is due. `None` if nothing changes without other calls.
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// Called when the size of a full packet has changed to `packet`.
    fn on_mtu_update(&mut self, packet: Bytes);

    /// Returns the window: how many bytes may be in flight. A flow with nothing in flight may always send one packet.
    fn window(&self) -> Bytes;

    /// Returns the least time between the starts of two packets; zero if packets may follow each other at once. The
    /// pacing rate is a full packet in this time.
    fn spacing(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns the longest silence of a flow with packets in flight. After it, the flow sends a small packet (a QUIC
    /// PING), even beyond the window. Its acknowledgment shows that a stalled link works again. `None` for never.
    fn heartbeat(&self) -> Option<Duration> {
        None
    }
}
