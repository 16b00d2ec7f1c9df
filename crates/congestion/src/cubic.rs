//! CUBIC: the window is a cubic function of the time since the last loss (RFC 9438), with HyStart++ (RFC 9406).

use rove_units::{Bytes, Instant};

use crate::controller::{Ack, Controller, Loss};
use crate::packet_window::{LEAST, PacketWindow};
use crate::rtt::Smoothed;
use crate::slow_start::{Begin, SlowStart};

/// Factor of the cubic function of time, in packets per second cubed. Source: RFC 9438, section 5.1.
const C: f64 = 0.4;

/// The share of the window that remains after a loss. Source: RFC 9438, section 4.6.
const BETA: f64 = 0.7;

/// Growth in packets a round trip with which a window that [`BETA`] cuts at each loss has Reno's average size. Source:
/// RFC 9438, section 4.3.
const RENO_GROWTH: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// The congestion controller of TCP CUBIC.
#[derive(Clone, Debug)]
pub struct Cubic {
    window: PacketWindow,
    /// The window to which the function returns (`W_max`), in packets. It is the window before the last loss, less room
    /// for other flows, or the window at the end of slow start. It is 0 before both, and after persistent congestion.
    window_before: f64,
    /// The window before the last loss (`cwnd_prior`), in packets; 0 without a loss.
    prior: f64,
    epoch: Option<Epoch>,
    slow_start: SlowStart,
    rtt: Smoothed,
}

/// The state of congestion avoidance since its last beginning.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    began: Instant,
    /// When the function reaches the window before the loss (`K`), in seconds after `began`.
    plateau: f64,
    /// The window at the plateau, in packets. It is the window before the loss or, if no loss began the epoch, the
    /// window at the epoch's beginning.
    origin: f64,
    /// The window that Reno would have at present, in packets.
    reno: f64,
}

impl Cubic {
    /// Creates a controller for full packets of size `packet`.
    pub fn new(packet: Bytes) -> Self {
        Self::with_begin(packet, Begin::MODERN)
    }

    /// Creates a controller for full packets of size `packet`, whose flow begins as `begin` says.
    pub fn with_begin(packet: Bytes, begin: Begin) -> Self {
        Self {
            window: PacketWindow::new(begin.packets.into(), LEAST, packet),
            window_before: 0.0,
            prior: 0.0,
            epoch: None,
            slow_start: SlowStart::new(begin),
            rtt: Smoothed::default(),
        }
    }

    fn avoid(&mut self, now: Instant, acked: f64) {
        let (window, before) = (self.window.packets, self.window_before);
        let origin = before.max(window);
        let plateau = ((origin - window) / C).cbrt();
        let begin = || Epoch { began: now, plateau, origin, reno: window };
        let epoch = self.epoch.get_or_insert_with(begin);
        let growth = if epoch.reno < self.prior { RENO_GROWTH } else { 1.0 };
        let ahead = now.saturating_since(epoch.began).as_secs_f64() + self.rtt.secs();
        let cubic = |time: f64| C * (time - epoch.plateau).powi(3) + epoch.origin;
        let current = cubic(ahead - self.rtt.secs());
        let target = cubic(ahead).clamp(window, 1.5 * window);
        epoch.reno += growth * acked / window;
        self.window.packets = if current < epoch.reno {
            epoch.reno
        } else {
            window + (target - window) / window * acked
        };
    }
}

impl Controller for Cubic {
    fn on_start(&mut self, _: Instant) {
        *self = Self::with_begin(self.window.packet(), self.slow_start.begin());
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        self.rtt.update(ack.rtt);
        if self.window.predates_recovery(ack) {
            return;
        }
        if ack.is_app_limited {
            // The flow had no data to send, so the window does not grow in this time. Source: RFC 9438, section 4.2.
            if let Some(epoch) = &mut self.epoch {
                let share = self.window.packets_in(ack.size) / self.window.packets;
                epoch.began += self.rtt.value().mul_f64(share.min(1.0));
            }
            return;
        }
        if self.window.is_starting() {
            if self.slow_start.grow(now, ack, &mut self.window) {
                self.window_before = self.window.packets;
            }
        } else {
            self.avoid(now, self.window.packets_in(ack.size));
        }
    }

    fn on_loss(&mut self, now: Instant, loss: &Loss) {
        let window = self.window.packets;
        if self.window.cut(now, loss, BETA) {
            // A flow that had not reached its former window leaves room to others. Source: RFC 9438, section 4.7.
            let is_shrinking = window < self.window_before;
            let share = if is_shrinking { (1.0 + BETA) / 2.0 } else { 1.0 };
            (self.window_before, self.prior) = (window * share, window);
            self.epoch = None;
        }
        if loss.is_persistent {
            self.slow_start.restart();
            // After slow start, the cubic function then begins at its plateau. Source: RFC 9438, section 4.8.
            (self.window_before, self.epoch) = (0.0, None);
        }
    }

    fn on_spurious_loss(&mut self, sent: Instant) {
        if self.window.undo(sent) {
            self.epoch = None;
        }
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
    fn a_flow_that_has_lost_nothing_grows_by_the_larger_of_both_functions() {
        let mut path = Path::new(Cubic::new(PACKET), 100);
        (path.controller.window.packets, path.controller.window_before) = (50.0, 50.0);
        path.controller.window.end_slow_start();
        let windows = path.windows(80);
        // The window grows by a packet each round trip, and from 5 s on as 50 + 0.4 t^3.
        for (rounds, expected) in [(25, 75), (50, 100), (79, 250)] {
            let found = windows[rounds];
            assert!(found.abs_diff(expected) * 10 <= expected, "{rounds}: {found}");
        }
    }

    #[test]
    fn the_window_comes_back_to_where_it_was_when_the_function_says() {
        let mut path = Path::new(Cubic::new(PACKET), 100);
        path.windows(6);
        let before = path.controller.window.packets;
        path.lose();
        assert!((path.controller.window.packets - BETA * before).abs() < 1.0);
        // K = cbrt(W (1 - beta) / C).
        let seconds = (before * (1.0 - BETA) / C).cbrt();
        let windows: Vec<u64> = path.windows(200);
        let rounds = crate::numbers::whole(seconds * 10.0);
        let near = |round: usize, share: f64| {
            let window = f64::from(u32::try_from(windows[round]).unwrap());
            assert!((window / before / share - 1.0).abs() < 0.03, "{round}: {window} {before}");
        };
        near(1, BETA);
        near(rounds, 1.0);
        // After twice the time, the window is as far above the plateau as it began below it.
        near(2 * rounds, 2.0 - BETA);
    }

    #[test]
    fn after_persistent_congestion_the_function_begins_flat_at_the_end_of_slow_start() {
        let mut path = Path::new(Cubic::new(PACKET), 100);
        path.controller.window.packets = 400.0;
        path.controller.window.end_slow_start();
        let size = PACKET;
        let loss = Loss { sent: path.now, size, in_flight: size, is_persistent: true };
        path.controller.on_loss(path.now, &loss);
        let windows = path.windows(40);
        let start = windows.iter().position(|it| *it >= 280).expect("slow start ends at 0.7 W");
        // After two seconds, the function gives 280 + 0.4 * 2^3 = 283. Reno's growth of 0.53 in each round gives 290.
        let grown = windows[start + 20];
        assert!(grown.abs_diff(290) <= 4, "{grown} after {}: {windows:?}", windows[start]);
    }

    /// Source: RFC 9438, section 5.1, table 1: the average window at a round trip of 0.1 s.
    #[test]
    fn average_windows_are_those_of_the_rfc() {
        for (every, expected) in [(10_000_u32, 187.0), (100_000, 1_054.0)] {
            let average = average_window(Cubic::new(PACKET), 100, every);
            assert!((average / expected - 1.0).abs() < 0.1, "{every}: {average} {expected}");
        }
        // Where Reno's window is larger (38 in the table), CUBIC has Reno's window or a little more.
        let average = average_window(Cubic::new(PACKET), 100, 1_000);
        assert!((38.0..45.0).contains(&average), "{average}");
    }
}
