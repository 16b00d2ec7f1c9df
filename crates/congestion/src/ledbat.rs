//! LEDBAT: a controller that yields to other traffic if packets queue for longer than 100 ms (RFC 6817).

use rove_units::{Bytes, Duration, Instant};

use crate::controller::{Ack, Controller, Loss};
use crate::delays::{CURRENT, Delays};
use crate::packet_window::PacketWindow;

/// Largest queueing delay that a flow may add. Source: RFC 6817, section 2.5: `TARGET`, at most 100 ms.
const TARGET: Duration = Duration::from_millis(100);

/// Largest change of the window in a round trip, in packets. Source: RFC 6817, section 2.5: `GAIN`, at most 1.
const GAIN: f64 = 1.0;

/// Number of one-minute entries, the least of which is the base delay. Source: RFC 6817, section 2.5: `BASE_HISTORY`.
const BASE: usize = 10;

/// Time over which one entry of the base delays is measured.
const MINUTE: Duration = Duration::from_secs(60);

/// Packets by which the window may exceed the packets in flight. Source: RFC 6817, section 2.5: `ALLOWED_INCREASE`.
const ALLOWED_INCREASE: f64 = 1.0;

/// The least window, which is also the first, in packets. Source: RFC 6817, section 2.5: `MIN_CWND` and `INIT_CWND`.
const LEAST: f64 = 2.0;

/// The share of the window that remains after a loss. Source: RFC 6817, section 2.4.1: at least half.
const DECREASE: f64 = 0.5;

/// The congestion controller of LEDBAT.
#[derive(Clone, Debug)]
pub struct Ledbat {
    window: PacketWindow,
    /// The queueing delay at which the window stops growing, in seconds.
    target: f64,
    /// Bytes in flight after the last packet was sent. They limit the window's growth, even if acknowledgments then
    /// leave nothing in flight.
    flight: Bytes,
    delays: Delays,
}

impl Ledbat {
    /// Creates a controller for full packets of size `packet`.
    pub const fn new(packet: Bytes) -> Self {
        Self::with_target(packet, TARGET)
    }

    /// Creates a controller that lets packets queue for `target`, which is more than zero and at most 100 ms.
    pub const fn with_target(packet: Bytes, target: Duration) -> Self {
        Self {
            window: PacketWindow::new(LEAST, LEAST, packet),
            target: target.as_secs_f64(),
            flight: Bytes::ZERO,
            delays: Delays::new(BASE, MINUTE),
        }
    }
}

impl Controller for Ledbat {
    fn on_start(&mut self, _: Instant) {
        let fresh = Self::new(self.window.packet());
        *self = Self { target: self.target, ..fresh };
    }

    fn on_sent(&mut self, _: Instant, _: Bytes, in_flight: Bytes) {
        self.flight = in_flight;
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        self.delays.update(now, ack);
        let off_target = (self.target - self.delays.current(CURRENT)) / self.target;
        let acked = self.window.packets_in(ack.size);
        let flight = self.window.packets_in(self.flight.max(ack.in_flight));
        let window =
            self.window.packets + GAIN * off_target.max(-1.0) * acked / self.window.packets;
        self.window.packets = window.min(flight + ALLOWED_INCREASE).max(LEAST);
    }

    fn on_loss(&mut self, now: Instant, loss: &Loss) {
        self.window.cut(now, loss, DECREASE);
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
    use crate::tests::{PACKET, Path};

    /// Source: RFC 6817, section 2.4.2: the window settles where the queueing delay is the target.
    #[test]
    fn the_queueing_delay_settles_at_the_target() {
        // The path carries 25 packets in a round trip of 50 ms, and 50 in 100 ms of queue.
        let mut path = Path::with_rate(Ledbat::new(PACKET), 50, 500);
        path.windows(600);
        for window in path.windows(100) {
            assert!((73..=77).contains(&window), "{window}");
        }
    }

    #[test]
    fn a_shorter_target_has_a_shorter_queue_after_a_restart_too() {
        let mut controller = Ledbat::with_target(PACKET, Duration::from_millis(20));
        controller.on_start(Instant::ZERO);
        let mut path = Path::with_rate(controller, 50, 500);
        path.windows(600);
        for window in path.windows(100) {
            assert!((33..=37).contains(&window), "{window}: 25 packets, and 10 in 20 ms");
        }
    }

    #[test]
    fn it_never_grows_by_more_than_a_packet_each_round_trip() {
        let mut path = Path::new(Ledbat::new(PACKET), 100);
        let windows = path.windows(50);
        assert!(windows.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{windows:?}");
        assert!(windows[49] > 40, "{windows:?}");
    }
}
