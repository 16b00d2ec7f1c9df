//! Decides how many bytes may be in flight, with the congestion controller and the pacer.

use rove_congestion::{Ack, Controller, Loss};
use rove_units::{Bytes, Duration, Instant};

use crate::pacer::{Pacer, interval};

/// Longest time that a packet takes at the pacer's rate while somebody waits for an echo, because a key waits for the
/// packet ahead of it on the link. A slower flow then sends smaller packets, down to the least size. At other times its
/// packets are full, because the loss of a small packet reduces the rate as much. Chosen: with 4 ms, file copies at 300
/// to 600 kbit/s lose 3 % more to headers, and keys get no faster.
const SLOT: Duration = Duration::from_millis(6);

/// Time after an interaction (a key, or bulk data of the peer) for which packets are small. Chosen: as long as the
/// default controller keeps its queue short.
const INTERACTION: Duration = Duration::from_secs(5);

/// When the congestion window and the pacer permit a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permit {
    /// The packet may be sent at once.
    Now,
    /// The packet may be sent at this time.
    At(Instant),
    /// The packet must wait for an acknowledgment or a loss.
    Full,
}

/// The number of bytes in flight, and the congestion controller that limits it.
#[derive(Debug)]
pub(crate) struct Flight {
    controller: Box<dyn Controller>,
    pacer: Pacer,
    in_flight: u64,
    /// The size of a full packet, in bytes.
    packet: u64,
    is_app_limited: bool,
    /// When [`Flight::handle_interaction`] was last called. `None` before the first call.
    interaction_at: Option<Instant>,
}

impl Flight {
    pub(crate) fn new(controller: Box<dyn Controller>, packet: usize, now: Instant) -> Self {
        let (pacer, packet) = (Pacer::default(), Bytes::from(packet).get());
        let (is_app_limited, interaction_at) = (true, None);
        let mut flight =
            Self { controller, pacer, in_flight: 0, packet, is_app_limited, interaction_at };
        flight.begin(now);
        flight
    }

    /// Replaces the congestion controller. Its window also limits the bytes already in flight.
    pub(crate) fn follow(&mut self, now: Instant, controller: Box<dyn Controller>) {
        self.controller = controller;
        self.begin(now);
    }

    fn begin(&mut self, now: Instant) {
        self.pacer = Pacer::default();
        self.controller.on_mtu_update(Bytes::new(self.packet));
        self.controller.on_start(now);
    }

    /// Changes the size of a full packet, in bytes.
    pub(crate) fn handle_packet_size(&mut self, packet: usize) {
        let packet = Bytes::from(packet);
        if packet.get() != self.packet {
            self.packet = packet.get();
            self.controller.on_mtu_update(packet);
        }
    }

    /// Tells the controller that a user waits for an answer over the path, or that the peer also sends bulk data.
    pub(crate) fn handle_interaction(&mut self, now: Instant) {
        self.interaction_at = self.interaction_at.max(Some(now));
        self.controller.on_interaction(now);
    }

    /// Subtracts the bytes of a packet that is given up. The congestion controller does not count the packet as lost.
    pub(crate) const fn give_up(&mut self, size: u64) {
        self.in_flight = self.in_flight.saturating_sub(size);
    }

    /// Restarts the congestion controller and the pacer, with no bytes in flight.
    pub(crate) fn restart(&mut self, now: Instant) {
        self.in_flight = 0;
        self.pacer = Pacer::default();
        self.controller.on_start(now);
    }

    /// Returns how many bytes a packet may have. The limit is a full packet or, soon after an interaction, what the
    /// pacer sends in [`SLOT`], but at least `least` bytes.
    pub(crate) fn packet_len(&self, now: Instant, srtt: Option<Duration>, least: u64) -> u64 {
        let full = interval(&*self.controller, self.packet, srtt);
        let is_soon = |at| now.saturating_since(at) < INTERACTION;
        if full <= SLOT || !self.interaction_at.is_some_and(is_soon) {
            return self.packet;
        }
        let len = u128::from(self.packet) * SLOT.as_nanos() / full.as_nanos();
        u64::try_from(len).unwrap_or(u64::MAX).clamp(least.min(self.packet), self.packet)
    }

    /// Returns when a packet of `len` bytes may be sent.
    pub(crate) fn permit(&self, now: Instant, len: u64) -> Permit {
        if self.in_flight > 0 && self.in_flight + len > self.controller.window().get() {
            return Permit::Full;
        }
        let at = self.pacer.next();
        if at <= now { Permit::Now } else { Permit::At(at) }
    }

    /// Records whether the flow had nothing to send although a packet was permitted.
    pub(crate) const fn note_app_limited(&mut self, is_app_limited: bool) {
        self.is_app_limited = is_app_limited;
    }

    pub(crate) fn handle_sent(&mut self, now: Instant, size: u64, srtt: Option<Duration>) {
        self.in_flight += size;
        let full = interval(&*self.controller, self.packet, srtt);
        let share = u32::try_from((size * 256).div_ceil(self.packet.max(1))).unwrap_or(256);
        self.pacer.handle_sent(now, full * share / 256);
        self.controller.on_sent(now, Bytes::new(size), Bytes::new(self.in_flight));
    }

    pub(crate) fn handle_ack(&mut self, now: Instant, ack: Ack) {
        debug_assert!(self.in_flight >= ack.size.get(), "acknowledged once");
        self.in_flight = self.in_flight.saturating_sub(ack.size.get());
        let (in_flight, is_app_limited) = (Bytes::new(self.in_flight), self.is_app_limited);
        self.controller.on_ack(now, &Ack { in_flight, is_app_limited, ..ack });
    }

    pub(crate) fn handle_acks_end(&mut self, now: Instant) {
        self.controller.on_end_acks(now, Bytes::new(self.in_flight), self.is_app_limited);
    }

    pub(crate) fn handle_loss(&mut self, now: Instant, loss: Loss) {
        debug_assert!(self.in_flight >= loss.size.get(), "lost once");
        self.in_flight = self.in_flight.saturating_sub(loss.size.get());
        self.controller.on_loss(now, &Loss { in_flight: Bytes::new(self.in_flight), ..loss });
    }

    pub(crate) fn handle_spurious_loss(&mut self, sent: Instant) {
        self.controller.on_spurious_loss(sent);
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.controller.poll_timeout().is_some_and(|at| at <= now) {
            self.controller.on_tick(now);
        }
    }

    /// Returns when [`Flight::handle_timeout`] is due. `None` for an idle flow, or a controller without timers.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.controller.poll_timeout().filter(|_| self.in_flight > 0)
    }

    /// Returns the longest permitted pause between packets. `None` without a limit, or with nothing in flight.
    pub(crate) fn heartbeat(&self) -> Option<Duration> {
        self.controller.heartbeat().filter(|_| self.in_flight > 0)
    }

    pub(crate) const fn in_flight(&self) -> u64 {
        self.in_flight
    }
}

#[cfg(test)]
mod tests {
    use rove_congestion::new_reno::NewReno;

    use super::*;

    #[test]
    fn packets_are_smaller_where_a_full_one_takes_long() {
        let packet = Bytes::new(1_200);
        let (mut flight, now) =
            (Flight::new(Box::new(NewReno::new(packet)), 1_200, Instant::ZERO), Instant::ZERO);
        let second = Some(Duration::from_secs(1));
        assert_eq!(flight.packet_len(now, second, 400), 1_200, "nobody waits for an echo");
        flight.handle_interaction(now);
        // The pacer sends the window of ten packets in four fifths of a round trip.
        for (millis, len) in [(10, 1_200), (75, 1_200), (100, 900), (150, 600), (2_000, 400)] {
            assert_eq!(
                flight.packet_len(now, Some(Duration::from_millis(millis)), 400),
                len,
                "{millis}"
            );
        }
        assert_eq!(flight.packet_len(now, None, 400), 1_200);
        assert_eq!(
            flight.packet_len(now, Some(Duration::from_secs(2)), 2_000),
            1_200,
            "the least is full"
        );
        assert_eq!(flight.packet_len(now + INTERACTION, second, 400), 1_200);
    }
}
