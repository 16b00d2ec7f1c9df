//! AIMD: additive increase, multiplicative decrease and nothing else (Chiu, Jain: *Analysis of the Increase and Decrease Algorithms
//! for Congestion Avoidance in Computer Networks*, 1989).
//!
//! The evaluations of Remy have it as the controller that everything has to beat: no slow start, one packet to begin with.

use rove_units::{Bytes, Instant};

use crate::controller::{Ack, Controller, Loss};
use crate::recovery::Recovery;
use crate::{in_packets, of_packets};

/// Packets more in each round trip. Source: as the module says; TCP's.
const INCREASE: f64 = 1.0;

/// What is left of the window after a loss. Source: as above.
const DECREASE: f64 = 0.5;

/// Least window, in packets, and the first.
const LEAST: f64 = 1.0;

/// Additive increase, multiplicative decrease. The window is in packets.
#[derive(Clone, Debug)]
pub struct Aimd {
    packet: Bytes,
    window: f64,
    recovery: Recovery,
}

impl Aimd {
    /// Creates a controller for full packets of this size.
    pub const fn new(packet: Bytes) -> Self {
        Self { packet, window: LEAST, recovery: Recovery::NONE }
    }
}

impl Controller for Aimd {
    fn on_start(&mut self, _: Instant) {
        *self = Self::new(self.packet);
    }

    fn on_ack(&mut self, _: Instant, ack: &Ack) {
        if !ack.is_app_limited {
            self.window += INCREASE * in_packets(ack.size, self.packet) / self.window;
        }
    }

    fn on_loss(&mut self, now: Instant, loss: &Loss) {
        if self.recovery.begins(now, loss.sent) {
            self.window = (self.window * DECREASE).max(LEAST);
        }
        if loss.is_persistent {
            self.window = LEAST;
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

    /// Source: the paper, figure 5: two users come to equal shares, wherever they begin.
    #[test]
    fn two_flows_that_lose_together_come_to_equal_shares() {
        let mut flows =
            [2.0, 180.0].map(|window| Path::new(Aimd { window, ..Aimd::new(PACKET) }, 100));
        for _ in 0..2_000 {
            let sum: u64 = flows.iter_mut().map(|path| path.windows(1)[0]).sum();
            if sum > 200 {
                flows.iter_mut().for_each(Path::lose);
            }
        }
        let [one, other] = flows.map(|path| path.controller.window);
        assert!((one / other - 1.0).abs() < 0.05, "{one} {other}");
    }
}
