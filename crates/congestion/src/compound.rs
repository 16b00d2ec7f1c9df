//! Compound TCP: the sum of a loss-based window and a delay-based window. Source: Tan, Song, Zhang, Sridharan: *A
//! Compound TCP Approach for High-Speed and Long Distance Networks*, IEEE INFOCOM 2006.

use rove_units::{Bytes, Duration, Instant};

use crate::controller::{Ack, Controller, Loss};
use crate::packet_window::{LEAST, PacketWindow};
use crate::rounds::{Round, Rounds};
use crate::slow_start::{Begin, SlowStart};

/// Growth of the window in a round trip without a queue: `ALPHA * window ^ K` packets. Source: the paper, section III.
const ALPHA: f64 = 0.125;
const K: f64 = 0.75;

/// Share of the whole window (both windows together) that a loss removes. Source: the paper, section III.
const BETA: f64 = 0.5;

/// The share of the loss-based window that remains after a loss. Source: RFC 5681, section 3.1.
const BY_LOSSES_LEFT: f64 = 0.5;

/// Packets in the queue at which the delay-based window begins to shrink. Source: the paper, section III.
const GAMMA: f64 = 30.0;

/// Packets by which the delay-based window shrinks for each packet in the queue. Chosen: the paper gives no value; with
/// 1, the queue empties within a round trip.
const ZETA: f64 = 1.0;

/// The congestion controller of Compound TCP. HyStart++ (RFC 9406) ends its slow start.
#[derive(Clone, Debug)]
pub struct Compound {
    by_losses: PacketWindow,
    /// The delay-based window, in packets.
    by_delays: f64,
    slow_start: SlowStart,
    base: Option<Duration>,
    rounds: Rounds,
}

impl Compound {
    /// Creates a controller for full packets of size `packet`.
    pub fn new(packet: Bytes) -> Self {
        Self::with_begin(packet, Begin::MODERN)
    }

    /// Creates a controller for full packets of size `packet`, whose flow begins as `begin` says.
    pub fn with_begin(packet: Bytes, begin: Begin) -> Self {
        Self {
            by_losses: PacketWindow::new(begin.packets.into(), LEAST, packet),
            by_delays: 0.0,
            slow_start: SlowStart::new(begin),
            base: None,
            rounds: Rounds::default(),
        }
    }

    /// Returns the sum of both windows, in packets.
    fn in_all(&self) -> f64 {
        self.by_losses.packets + self.by_delays
    }

    /// Adjusts the delay-based window. Call this once each round trip.
    fn adjust(&mut self, rtt: Duration, base: Duration) {
        let window = self.in_all();
        let queued = window * (1.0 - base.as_secs_f64() / rtt.as_secs_f64().max(1e-9));
        if queued < GAMMA {
            self.by_delays += (ALPHA * window.powf(K) - 1.0).max(0.0);
        } else {
            self.by_delays = (self.by_delays - ZETA * queued).max(0.0);
        }
    }
}

impl Controller for Compound {
    fn on_start(&mut self, _: Instant) {
        *self = Self::with_begin(self.by_losses.packet(), self.slow_start.begin());
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        let base = self.base.map_or(ack.rtt, |base| base.min(ack.rtt));
        self.base = Some(base);
        if ack.is_app_limited || self.by_losses.predates_recovery(ack) {
            return;
        }
        if self.by_losses.is_starting() {
            self.slow_start.grow(now, ack, &mut self.by_losses);
            return;
        }
        self.by_losses.packets += self.by_losses.packets_in(ack.size) / self.in_all();
        if let Some(Round { rtt: Some(rtt), .. }) = self.rounds.update(now, ack.sent, ack.rtt) {
            self.adjust(rtt, base);
        }
    }

    fn on_loss(&mut self, now: Instant, loss: &Loss) {
        let left = self.in_all() * (1.0 - BETA);
        if self.by_losses.cut(now, loss, BY_LOSSES_LEFT) {
            self.by_delays = (left - self.by_losses.packets).max(0.0);
        }
        if loss.is_persistent {
            self.by_delays = 0.0;
            self.slow_start.restart();
        }
    }

    fn on_mtu_update(&mut self, packet: Bytes) {
        self.by_losses.on_mtu_update(packet);
    }

    fn window(&self) -> Bytes {
        let mut window = self.by_losses;
        window.packets = self.in_all();
        window.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{PACKET, Path, average_window};

    #[test]
    fn without_a_queue_the_window_grows_by_the_law_of_the_paper_and_a_loss_halves_it() {
        let mut path = Path::new(Compound::new(PACKET), 100);
        assert_eq!(path.windows(4), [10, 20, 40, 80]);
        path.lose();
        let mut window = path.controller.in_all();
        assert_eq!(window, 80.0);
        // The first round trip after the loss acknowledges packets that were sent before the loss.
        path.windows(2);
        window = path.controller.in_all();
        for _ in 0..20 {
            path.windows(1);
            let expected = window + ALPHA * window.powf(K);
            window = path.controller.in_all();
            assert!((window / expected - 1.0).abs() < 0.01, "{window}, not {expected}");
        }
        path.lose();
        assert!((path.controller.in_all() / window - 0.5).abs() < 1e-9);
    }

    /// Source: the paper, section III: after a loss the window grows from half of its largest size by `ALPHA` and `K`.
    #[test]
    fn the_average_window_is_that_of_the_growth_between_two_losses() {
        for every in [10_000_u32, 100_000] {
            let average = average_window(Compound::new(PACKET), 100, every);
            let half = |power: f64| 1.0 - 0.5_f64.powf(power);
            let packets = f64::from(every) * ALPHA * (2.0 - K) / half(2.0 - K);
            let largest = packets.powf(1.0 / (2.0 - K));
            let rounds = largest.powf(1.0 - K) * half(1.0 - K) / (ALPHA * (1.0 - K));
            let expected = f64::from(every) / rounds;
            assert!((average / expected - 1.0).abs() < 0.1, "{every}: {average} {expected}");
        }
    }

    #[test]
    fn a_queue_of_thirty_packets_ends_the_window_by_delays() {
        // The path carries 200 packets in a round trip of 100 ms.
        let mut path = Path::with_rate(Compound::new(PACKET), 100, 2_000);
        path.lose();
        path.windows(100);
        let (by_losses, by_delays) = (path.controller.by_losses.packets, path.controller.by_delays);
        assert!((190.0..240.0).contains(&(by_losses + by_delays)), "{by_losses} {by_delays}");
        path.windows(300);
        assert_eq!(path.controller.by_delays, 0.0, "the window by losses has filled the queue");
    }
}
