//! Vegas: holds a few packets in the queue, as it infers them from the round-trip time (Brakmo, Peterson: *TCP Vegas: End to End
//! Congestion Avoidance on a Global Internet*, IEEE JSAC 13(8), 1995).

use rove_units::{Bytes, Duration, Instant};

use crate::controller::{Ack, Controller, Loss};
use crate::recovery::Recovery;
use crate::rounds::{Round, Rounds};
use crate::{in_packets, of_packets};

/// Least and most packets that wait in the queue. Source: the paper, section 4, "Vegas-2,4".
const ALPHA: f64 = 2.0;
const BETA: f64 = 4.0;

/// Packets in the queue at which slow start ends. Source: the paper, section 3.3; Linux has the same.
const GAMMA: f64 = 1.0;

/// The first window, in packets. Source: RFC 5681, section 3.1.
const FIRST: f64 = 2.0;

/// The control of TCP Vegas. Windows are in packets.
#[derive(Clone, Debug)]
pub struct Vegas {
    packet: Bytes,
    window: f64,
    threshold: f64,
    base: Option<Duration>,
    rounds: Rounds,
    /// Slow start grows every other round trip, and compares in those between.
    grows: bool,
    recovery: Recovery,
}

impl Vegas {
    /// Creates a controller for full packets of this size.
    pub fn new(packet: Bytes) -> Self {
        Self {
            packet,
            window: FIRST,
            threshold: f64::INFINITY,
            base: None,
            rounds: Rounds::default(),
            grows: true,
            recovery: Recovery::default(),
        }
    }

    /// Adjusts the window once each round trip.
    fn adjust(&mut self, rtt: Duration, base: Duration) {
        // (Expected - Actual) * BaseRTT: what of the window is in the queue.
        let queued = self.window * (1.0 - base.as_secs_f64() / rtt.as_secs_f64().max(1e-9));
        if self.window < self.threshold {
            self.grows = !self.grows;
            if queued > GAMMA {
                self.window = (self.window - queued).max(FIRST);
                self.threshold = self.window;
            }
        } else if queued < ALPHA {
            self.window += 1.0;
        } else if queued > BETA {
            self.window = (self.window - 1.0).max(FIRST);
        }
    }
}

impl Controller for Vegas {
    fn on_start(&mut self, _: Instant) {
        *self = Self::new(self.packet);
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        let base = self.base.map_or(ack.rtt, |base| base.min(ack.rtt));
        self.base = Some(base);
        let is_starting = self.window < self.threshold;
        if is_starting && self.grows && !ack.is_app_limited {
            self.window += in_packets(ack.size, self.packet);
        }
        let ended = self.rounds.update(now, ack.sent, ack.rtt);
        if let Some(Round { rtt: Some(rtt), .. }) = ended.filter(|_| !ack.is_app_limited) {
            self.adjust(rtt, base);
        }
    }

    fn on_loss(&mut self, now: Instant, loss: &Loss) {
        if self.recovery.begins(now, loss.sent) {
            self.window = (self.window / 2.0).max(FIRST);
            self.threshold = self.window;
        }
        if loss.is_persistent {
            (self.window, self.grows) = (FIRST, true);
        }
    }

    fn on_mtu_update(&mut self, packet: Bytes) {
        self.packet = packet;
    }

    fn window(&self) -> Bytes {
        of_packets(self.window, self.packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{PACKET, Path};

    /// Source: the paper, section 3.2: the flow settles with alpha to beta packets in the bottleneck's queue, and stays there.
    #[test]
    fn the_queue_settles_between_alpha_and_beta_packets() {
        // 50 packets in a round trip of 100 ms.
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
