//! AIMD: additive increase, multiplicative decrease and nothing else. Source: Chiu, Jain: *Analysis of the Increase and
//! Decrease Algorithms for Congestion Avoidance in Computer Networks*, 1989.
//!
//! This controller is the lower bound in the evaluations of Remy (Winstein, Balakrishnan: *TCP ex Machina*, 2013).
//! Every other controller must beat it. It has no slow start, and its first window is one packet.

use rove_units::{Bytes, Instant};

use crate::controller::{Ack, Controller, Loss};
use crate::packet_window::PacketWindow;

/// Packets by which the window grows in each round trip. Source: TCP.
const INCREASE: f64 = 1.0;

/// The share of the window that remains after a loss. Source: TCP.
const DECREASE: f64 = 0.5;

/// The least window, which is also the first, in packets.
const LEAST: f64 = 1.0;

/// A congestion controller with additive increase and multiplicative decrease.
#[derive(Clone, Debug)]
pub struct Aimd {
    window: PacketWindow,
}

impl Aimd {
    /// Creates a controller for full packets of size `packet`.
    pub const fn new(packet: Bytes) -> Self {
        Self { window: PacketWindow::new(LEAST, LEAST, packet) }
    }
}

impl Controller for Aimd {
    fn on_start(&mut self, _: Instant) {
        *self = Self::new(self.window.packet());
    }

    fn on_ack(&mut self, _: Instant, ack: &Ack) {
        if !ack.is_app_limited {
            self.window.packets +=
                INCREASE * self.window.packets_in(ack.size) / self.window.packets;
        }
    }

    fn on_loss(&mut self, now: Instant, loss: &Loss) {
        self.window.cut(now, loss, DECREASE);
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

    /// Source: the paper, figure 5: two users come to equal shares, wherever they begin.
    #[test]
    fn two_flows_that_lose_together_come_to_equal_shares() {
        let mut flows = [2.0, 180.0]
            .map(|first| PacketWindow::new(first, LEAST, PACKET))
            .map(|window| Path::new(Aimd { window }, 100));
        for _ in 0..2_000 {
            let sum: u64 = flows.iter_mut().map(|path| path.windows(1)[0]).sum();
            if sum > 200 {
                flows.iter_mut().for_each(Path::lose);
            }
        }
        let [one, other] = flows.map(|path| path.controller.window.packets);
        assert!((one / other - 1.0).abs() < 0.05, "{one} {other}");
    }
}
