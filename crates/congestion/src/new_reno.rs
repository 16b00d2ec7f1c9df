//! NewReno: the window grows by a packet each round trip, and halves after a loss. Source: RFC 5681, RFC 6582;
//! RFC 9002, section 7, for times in place of sequence numbers.

use rove_units::{Bytes, Instant};

use crate::controller::{Ack, Controller, Loss};
use crate::packet_window::{LEAST, PacketWindow};
use crate::slow_start::{Begin, SlowStart};

/// The share of the window that remains after a loss. Source: RFC 5681, section 3.1, equation 4.
const DECREASE: f64 = 0.5;

/// The congestion controller of TCP NewReno. HyStart++ (RFC 9406) ends slow start even if a link never drops packets.
#[derive(Clone, Debug)]
pub struct NewReno {
    window: PacketWindow,
    slow_start: SlowStart,
    /// Packets acknowledged since the window last grew by a packet.
    acked: f64,
}

impl NewReno {
    /// Creates a controller for full packets of size `packet`.
    pub fn new(packet: Bytes) -> Self {
        Self::with_begin(packet, Begin::MODERN)
    }

    /// Creates a controller for full packets of size `packet`, whose flow begins as `begin` says.
    pub fn with_begin(packet: Bytes, begin: Begin) -> Self {
        Self {
            window: PacketWindow::new(begin.packets.into(), LEAST, packet),
            slow_start: SlowStart::new(begin),
            acked: 0.0,
        }
    }
}

impl Controller for NewReno {
    fn on_start(&mut self, _: Instant) {
        *self = Self::with_begin(self.window.packet(), self.slow_start.begin());
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        if ack.is_app_limited || self.window.predates_recovery(ack) {
            return;
        }
        if self.window.is_starting() {
            self.slow_start.grow(now, ack, &mut self.window);
            return;
        }
        self.acked += self.window.packets_in(ack.size);
        if self.acked >= self.window.packets {
            self.acked -= self.window.packets;
            self.window.packets += 1.0;
        }
    }

    fn on_loss(&mut self, now: Instant, loss: &Loss) {
        if self.window.cut(now, loss, DECREASE) {
            self.acked = 0.0;
        }
        if loss.is_persistent {
            self.slow_start.restart();
        }
    }

    fn on_spurious_loss(&mut self, sent: Instant) {
        self.window.undo(sent);
    }

    fn on_mtu_update(&mut self, packet: Bytes) {
        self.window.on_mtu_update(packet);
    }

    fn window(&self) -> Bytes {
        self.window.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{PACKET, Path, average_window};

    #[test]
    fn slow_start_doubles_the_window_each_round_trip_and_avoidance_adds_a_packet() {
        let mut path = Path::new(NewReno::new(PACKET), 100);
        assert_eq!(path.windows(4), [10, 20, 40, 80]);
        path.lose();
        assert_eq!(path.windows(4), [80, 81, 82, 83]);
    }

    #[test]
    fn losses_of_one_window_halve_it_once() {
        let mut path = Path::new(NewReno::new(PACKET), 100);
        path.windows(3);
        assert_eq!(path.controller.window(), Bytes::new(80_000));
        let [sent, later] = [path.now, path.now + rove_units::Duration::from_millis(1)];
        for _ in 0..5 {
            let loss = Loss { sent, size: PACKET, in_flight: Bytes::ZERO, is_persistent: false };
            path.controller.on_loss(later, &loss);
        }
        assert_eq!(path.controller.window(), Bytes::new(40_000));
    }

    /// Source: Mathis, Semke, Mahdavi, Ott (ACM CCR 27(3), 1997): an average window of sqrt(3 / 2p) packets.
    #[test]
    fn the_average_window_is_that_of_the_square_root_law() {
        for every in [1_000_u32, 10_000] {
            let average = average_window(NewReno::new(PACKET), 100, every);
            let expected = (1.5 * f64::from(every)).sqrt();
            assert!((average / expected - 1.0).abs() < 0.05, "{every}: {average} {expected}");
        }
    }
}
