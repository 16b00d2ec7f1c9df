//! Vegas: keeps a few packets in the queue, and infers their number from the round-trip time. Source: Brakmo, Peterson:
//! *TCP Vegas: End to End Congestion Avoidance on a Global Internet*, IEEE JSAC 13(8), 1995.

use rove_units::{Bytes, Duration, Instant};

use crate::controller::{Ack, Controller, Loss};
use crate::packet_window::PacketWindow;
use crate::rounds::{Round, Rounds};

/// Least and most packets that the flow keeps in the queue. Source: the paper, section 4, "Vegas-2,4".
const ALPHA: f64 = 2.0;
const BETA: f64 = 4.0;

/// Packets in the queue at which slow start ends. Source: the paper, section 3.3; Linux has the same.
const GAMMA: f64 = 1.0;

/// The first window, in packets. Source: RFC 5681, section 3.1.
const FIRST: f64 = 2.0;

/// The share of the window that remains after a loss. Source: RFC 5681, section 3.1.
const DECREASE: f64 = 0.5;

/// The congestion controller of TCP Vegas.
#[derive(Clone, Debug)]
pub struct Vegas {
    window: PacketWindow,
    base: Option<Duration>,
    rounds: Rounds,
    /// Whether slow start grows the window in this round trip. In alternate round trips, it only measures the queue.
    grows: bool,
}

impl Vegas {
    /// Creates a controller for full packets of size `packet`.
    pub fn new(packet: Bytes) -> Self {
        Self {
            window: PacketWindow::new(FIRST, FIRST, packet),
            base: None,
            rounds: Rounds::default(),
            grows: true,
        }
    }

    /// Adjusts the window. Call this once each round trip.
    fn adjust(&mut self, rtt: Duration, base: Duration) {
        // (Expected - Actual) * BaseRTT: the part of the window that is in the queue.
        let queued = self.window.packets * (1.0 - base.as_secs_f64() / rtt.as_secs_f64().max(1e-9));
        if self.window.is_starting() {
            self.grows = !self.grows;
            if queued > GAMMA {
                self.window.packets = (self.window.packets - queued).max(FIRST);
                self.window.end_slow_start();
            }
        } else if queued < ALPHA {
            self.window.packets += 1.0;
        } else if queued > BETA {
            self.window.packets = (self.window.packets - 1.0).max(FIRST);
        }
    }
}

impl Controller for Vegas {
    fn on_start(&mut self, _: Instant) {
        *self = Self::new(self.window.packet());
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        let base = self.base.map_or(ack.rtt, |base| base.min(ack.rtt));
        self.base = Some(base);
        if self.window.is_starting() && self.grows && !ack.is_app_limited {
            self.window.packets += self.window.packets_in(ack.size);
        }
        let ended = self.rounds.update(now, ack.sent, ack.rtt);
        if let Some(Round { rtt: Some(rtt), .. }) = ended.filter(|_| !ack.is_app_limited) {
            self.adjust(rtt, base);
        }
    }

    fn on_loss(&mut self, now: Instant, loss: &Loss) {
        self.window.cut(now, loss, DECREASE);
        self.grows |= loss.is_persistent;
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
    use crate::tests::{PACKET, Path};

    /// Source: the paper, section 3.2: the flow settles with alpha to beta packets in the queue, and stays there.
    #[test]
    fn the_queue_settles_between_alpha_and_beta_packets() {
        // The path carries 50 packets in a round trip of 100 ms.
        let mut path = Path::with_rate(Vegas::new(PACKET), 100, 500);
        path.windows(200);
        for window in path.windows(100) {
            assert!((52..=54).contains(&window), "{window}");
        }
    }

    #[test]
    fn slow_start_doubles_every_other_round_trip() {
        let mut path = Path::new(Vegas::new(PACKET), 100);
        let windows = path.windows(9);
        assert!(windows.windows(3).all(|three| three[2] <= 2 * three[0] + 1), "{windows:?}");
        assert!(windows[8] >= 28, "{windows:?}");
    }
}
