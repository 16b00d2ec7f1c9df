//! A congestion window counted in packets, and its reaction to losses.

use rove_units::{Bytes, Instant};

use crate::controller::{Ack, Loss};
use crate::numbers::{in_packets, whole};
use crate::recovery::Recovery;

/// The first window of controllers that begin as QUIC does, in packets. Source: RFC 9002, section 7.2; RFC 6928.
pub(crate) const INITIAL: u32 = 10;

/// The least window of controllers that follow QUIC, in packets. Source: RFC 9002, section 7.2.
pub(crate) const LEAST: f64 = 2.0;

/// A congestion window in packets, with fractions. A congestion event leaves a share of the window, and persistent
/// congestion leaves the least window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacketWindow {
    /// The current window, in packets.
    pub(crate) packets: f64,
    /// The size of a full packet.
    packet: Bytes,
    /// The least window, in packets.
    least: f64,
    /// The slow start threshold, in packets. A smaller window is in slow start.
    threshold: f64,
    recovery: Recovery,
    /// The window and the threshold before the last congestion event. `None` without an event that can be undone.
    before: Option<[f64; 2]>,
}

impl PacketWindow {
    /// Creates a window of `first` full packets, in slow start, that never falls below `least` packets.
    pub(crate) const fn new(first: f64, least: f64, packet: Bytes) -> Self {
        let (threshold, recovery) = (f64::INFINITY, Recovery::NONE);
        Self { packets: first, packet, least, threshold, recovery, before: None }
    }

    pub(crate) const fn packet(&self) -> Bytes {
        self.packet
    }

    pub(crate) fn bytes(&self) -> Bytes {
        let packet = f64::from(u32::try_from(self.packet.get()).unwrap_or(u32::MAX));
        // A product that is slightly too small would never permit the last packet of the window. So it is rounded.
        Bytes::from(whole((self.packets * packet).round()))
    }

    pub(crate) fn packets_in(&self, size: Bytes) -> f64 {
        in_packets(size, self.packet)
    }

    /// Returns whether the window is in slow start, below its threshold.
    pub(crate) fn is_starting(&self) -> bool {
        self.packets < self.threshold
    }

    /// Ends slow start without a loss: the current window becomes the threshold.
    pub(crate) const fn end_slow_start(&mut self) {
        self.threshold = self.packets;
    }

    /// Returns whether an acknowledged packet was sent before the last congestion event, and so tells nothing of the
    /// new window.
    pub(crate) fn predates_recovery(&self, ack: &Ack) -> bool {
        self.recovery.covers(ack.sent)
    }

    /// Multiplies the window by `share` if the loss is a new congestion event. Returns whether the event is new. The
    /// cut window is also the slow start threshold. Persistent congestion always leaves the least window, below the
    /// threshold.
    pub(crate) fn cut(&mut self, now: Instant, loss: &Loss, share: f64) -> bool {
        let is_new = self.recovery.begins(now, loss.sent);
        if is_new {
            self.before = Some([self.packets, self.threshold]);
            self.packets = (self.packets * share).max(self.least);
            self.threshold = self.packets;
        }
        if loss.is_persistent {
            (self.packets, self.before) = (self.least, None);
        }
        is_new
    }

    /// Undoes the last congestion event if a packet that was sent at `sent` belongs to the event. Returns whether the
    /// event was undone. Source: RFC 4015, section 3.
    pub(crate) fn undo(&mut self, sent: Instant) -> bool {
        let before = self.before.take_if(|_| self.recovery.covers(sent));
        if let Some([packets, threshold]) = before {
            self.packets = self.packets.max(packets);
            self.threshold = self.threshold.max(threshold);
        }
        before.is_some()
    }

    /// Changes the size of a full packet. The window keeps its number of packets.
    pub(crate) const fn on_mtu_update(&mut self, packet: Bytes) {
        self.packet = packet;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::PACKET;

    fn loss(sent: u64, is_persistent: bool) -> Loss {
        let sent = Instant::from_millis(sent);
        Loss { sent, size: PACKET, in_flight: Bytes::ZERO, is_persistent }
    }

    #[test]
    fn losses_of_packets_that_were_sent_before_a_cut_do_not_cut_again() {
        let mut window = PacketWindow::new(100.0, LEAST, PACKET);
        let now = Instant::from_millis(50);
        assert!(window.is_starting(), "nothing has ended slow start");
        assert!(window.cut(now, &loss(10, false), 0.7));
        assert!(!window.cut(now, &loss(20, false), 0.7) && !window.cut(now, &loss(50, false), 0.7));
        assert_eq!(window.bytes(), Bytes::new(70_000));
        assert!(!window.is_starting(), "the threshold is the window");
        assert!(window.cut(Instant::from_millis(90), &loss(51, false), 0.5), "sent after the cut");
        assert_eq!(window.bytes(), Bytes::new(35_000));
    }

    #[test]
    fn no_number_of_losses_takes_the_window_below_the_least() {
        for least in [1.0, LEAST] {
            let mut window = PacketWindow::new(INITIAL.into(), least, PACKET);
            for millis in 1..20 {
                let now = Instant::from_millis(10 * millis);
                window.cut(now, &loss(10 * millis - 1, false), 0.5);
            }
            assert!(window.packets == least, "{} packets", window.packets);
        }
    }

    #[test]
    fn persistent_congestion_leaves_the_least_window_and_the_threshold_of_the_cut() {
        let mut window = PacketWindow::new(40.0, LEAST, PACKET);
        assert!(window.cut(Instant::from_millis(9), &loss(1, true), 0.5));
        assert!(window.packets == LEAST && window.is_starting());
        window.packets = 20.0;
        assert!(!window.is_starting(), "slow start ends at half of the window before");
        // A repeated report of the same packets is no new event, but leaves the least window again.
        assert!(!window.cut(Instant::from_millis(10), &loss(1, true), 0.5));
        assert!(window.packets == LEAST);
    }

    #[test]
    fn a_cut_is_undone_once_and_only_by_a_packet_that_was_sent_before_it() {
        let mut window = PacketWindow::new(100.0, LEAST, PACKET);
        assert!(!window.undo(Instant::from_millis(10)), "there was no cut");
        window.cut(Instant::from_millis(50), &loss(10, false), 0.5);
        assert!(!window.undo(Instant::from_millis(51)));
        assert_eq!(window.bytes(), Bytes::new(50_000));
        assert!(window.undo(Instant::from_millis(50)));
        assert_eq!((window.bytes(), window.is_starting()), (Bytes::new(100_000), true));
        window.packets = 40.0;
        assert!(!window.undo(Instant::from_millis(10)), "it is undone");
        assert_eq!(window.bytes(), Bytes::new(40_000));
        window.cut(Instant::from_millis(90), &loss(60, true), 0.5);
        assert!(!window.undo(Instant::from_millis(60)));
        assert!(window.packets == LEAST, "persistent congestion is not undone");
    }

    #[test]
    fn another_packet_size_keeps_the_number_of_packets() {
        let mut window = PacketWindow::new(2.5, LEAST, PACKET);
        window.on_mtu_update(Bytes::new(1_200));
        assert_eq!((window.bytes(), window.packet()), (Bytes::new(3_000), Bytes::new(1_200)));
        assert!((window.packets_in(Bytes::new(300)) - 0.25).abs() < 1e-12);
        assert!(in_packets(PACKET, Bytes::ZERO).is_finite());
    }
}
