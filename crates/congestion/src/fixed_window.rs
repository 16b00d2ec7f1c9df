//! A window that never changes, like that of TCP when the receiver's window limits it.
//!
//! Runs with every size give the curve of throughput against delay that adaptive controllers are compared with.

use rove_units::{Bytes, Instant};

use crate::controller::{Ack, Controller, Loss};

/// A congestion controller that keeps the same number of packets in flight.
#[derive(Clone, Debug)]
pub struct FixedWindow {
    packets: u64,
    packet: Bytes,
}

impl FixedWindow {
    /// Creates a window of `packets` full packets of size `packet`, at least one.
    pub fn new(packets: u64, packet: Bytes) -> Self {
        Self { packets: packets.max(1), packet }
    }
}

impl Controller for FixedWindow {
    fn on_ack(&mut self, _: Instant, _: &Ack) {}

    fn on_loss(&mut self, _: Instant, _: &Loss) {}

    fn on_mtu_update(&mut self, packet: Bytes) {
        self.packet = packet;
    }

    fn window(&self) -> Bytes {
        Bytes::new(self.packets.saturating_mul(self.packet.get()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_changes_the_window_but_the_size_of_a_packet() {
        let mut window = FixedWindow::new(7, Bytes::new(1_000));
        let now = Instant::from_millis(3);
        let loss = Loss {
            sent: now,
            size: Bytes::new(1_000),
            in_flight: Bytes::ZERO,
            is_persistent: true,
        };
        window.on_loss(now, &loss);
        assert_eq!(window.window(), Bytes::new(7_000));
        window.on_mtu_update(Bytes::new(1_400));
        assert_eq!(window.window(), Bytes::new(9_800));
        assert_eq!(FixedWindow::new(0, Bytes::new(1_400)).window(), Bytes::new(1_400));
    }
}
