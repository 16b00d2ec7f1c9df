//! The interface between a flow and what controls it.
//!
//! A flow calls [`Controller::on_start`] once, then [`Controller::on_sent`] for each packet, [`Controller::on_ack`] for each packet that is
//! acknowledged followed by one [`Controller::on_end_acks`] for the batch, and [`Controller::on_loss`] for packets given up. It sends a
//! packet while the bytes in flight and the packet fit [`Controller::window`], and not sooner after the last one than
//! [`Controller::spacing`]. Times passed in never go backwards. A packet is acknowledged or lost at most once.
//!
//! The calls are those of `quinn`'s `congestion::Controller`, so that an adapter needs no state of its own.

use core::fmt::Debug;

use rove_units::{Bytes, Duration, Instant};

/// A packet that has been acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// When the packet was sent.
    pub sent: Instant,
    /// When it came to the receiver, on a clock whose offset is constant and unknown: only differences mean anything. The time
    /// of the acknowledgment where the receiver does not say.
    pub received: Instant,
    /// The packet's size.
    pub size: Bytes,
    /// The round-trip time that it took, without the time that the receiver says it held the acknowledgment.
    pub rtt: Duration,
    /// Bytes still on their way, this packet's not among them.
    pub in_flight: Bytes,
    /// Whether the flow had less to send than the window allowed, so that the window was not what held it back.
    pub is_app_limited: bool,
}

/// Packets that have been given up, or a mark of congestion on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// When the newest of them was sent.
    pub sent: Instant,
    /// Their bytes; none where a router has only marked a packet.
    pub size: Bytes,
    /// Bytes still on their way, those of the lost packets not among them.
    pub in_flight: Bytes,
    /// Whether everything was lost for so long that nothing known of the path still counts
    /// (RFC 9002, section 7.6; the retransmission timeout of RFC 5681).
    pub is_persistent: bool,
}

/// Decides how much of a flow may be on its way, and how fast it is sent.
pub trait Controller: Debug + Send {
    /// Called when the flow begins, and each time it begins again after it had ended: what was learnt of the path may be forgotten.
    fn on_start(&mut self, _now: Instant) {}

    /// Called when a packet of `size` has been sent; `in_flight` counts it.
    fn on_sent(&mut self, _now: Instant, _size: Bytes, _in_flight: Bytes) {}

    /// Called for each packet that is acknowledged.
    fn on_ack(&mut self, now: Instant, ack: &Ack);

    /// Called when all packets that one datagram acknowledges have been passed to [`Controller::on_ack`].
    fn on_end_acks(&mut self, _now: Instant, _in_flight: Bytes, _is_app_limited: bool) {}

    /// Called when packets are given up, once for all that are found lost at one time.
    fn on_loss(&mut self, now: Instant, loss: &Loss);

    /// Called when [`Controller::poll_timeout`] has come. A caller without timers may leave that out: every call moves time on.
    fn on_tick(&mut self, _now: Instant) {}

    /// Returns when [`Controller::on_tick`] is due, if anything changes by itself.
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// Called when the size of a full packet has changed.
    fn on_mtu_update(&mut self, packet: Bytes);

    /// Returns how many bytes may be on their way. A flow with nothing in flight may always send one packet.
    fn window(&self) -> Bytes;

    /// Returns the least time between the beginnings of two packets; zero where packets may follow each other at once. A full packet
    /// in this time is the pacing rate.
    fn spacing(&self) -> Duration {
        Duration::ZERO
    }

    /// Returns the longest silence of a flow with something in flight that the controller can do with: after that a small packet is sent
    /// beyond the window (in QUIC a PING frame). Its acknowledgment is the first that tells of a link that carries again.
    fn heartbeat(&self) -> Option<Duration> {
        None
    }
}

impl<C: Controller + ?Sized> Controller for Box<C> {
    fn on_start(&mut self, now: Instant) {
        (**self).on_start(now);
    }

    fn on_sent(&mut self, now: Instant, size: Bytes, in_flight: Bytes) {
        (**self).on_sent(now, size, in_flight);
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        (**self).on_ack(now, ack);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: Bytes, is_app_limited: bool) {
        (**self).on_end_acks(now, in_flight, is_app_limited);
    }

    fn on_loss(&mut self, now: Instant, loss: &Loss) {
        (**self).on_loss(now, loss);
    }

    fn on_tick(&mut self, now: Instant) {
        (**self).on_tick(now);
    }

    fn poll_timeout(&self) -> Option<Instant> {
        (**self).poll_timeout()
    }

    fn on_mtu_update(&mut self, packet: Bytes) {
        (**self).on_mtu_update(packet);
    }

    fn window(&self) -> Bytes {
        (**self).window()
    }

    fn spacing(&self) -> Duration {
        (**self).spacing()
    }

    fn heartbeat(&self) -> Option<Duration> {
        (**self).heartbeat()
    }
}
