//! A congestion controller for file copies. While the user types, or the peer also sends much, it queues so little that
//! keys and acknowledgments hardly wait. Otherwise it queues more, so that a link of varying rate is seldom idle.
//!
//! Its parts are published. The signal is LEDBAT's queueing delay: the one-way delay beyond the least one (RFC 6817).
//! Slow start ends when this signal shows a queue (RFC 9406 uses round-trip times). A window that makes the queue too
//! long shrinks by the excess packets (FAST TCP: Jin, Wei, Low, INFOCOM 2004, with a gain of one). A window without a
//! queue grows by a packet each round trip. It grows faster the longer no queue appears (the velocity of Copa: Arun,
//! Balakrishnan, NSDI 2018, section 2.2), but at most up to the target queue. A loss without a queue counts as random.
//! It costs a fifth of the window (TCP Veno: Fu, Liew, IEEE JSAC 21(2), 2003). A lasting queue is drained, so that its
//! delay never counts as the path's own (LEDBAT++).

use rove_units::{Bytes, Duration, Instant};

use crate::controller::{Ack, Controller, Loss};
use crate::delays::Delays;
use crate::numbers::whole;
use crate::packet_window::PacketWindow;
use crate::rounds::Rounds;

/// The queueing delay at which the window aims while a user types. It is the least within a round trip, so most packets
/// wait longer. Chosen: keys may wait 10 ms more during a file copy.
const TARGET: Duration = Duration::from_millis(5);

/// Factor on the target queueing delay. A current delay above the product shrinks the window at once. Otherwise a round
/// trip's least delay above the target shrinks it, because on Wi-Fi some packets are late by chance. Chosen: with 3,
/// keys beside a copy over recorded LTE waited 9 ms longer. With 1.6, a copy over a link whose delay varies by 5 ms had
/// two thirds of the rate.
const URGENT: f64 = 2.0;

/// The longest queueing delay at which the window aims while nobody types. If the round trip is shorter, the aim is a
/// queue of one round trip. Chosen: a copy over each of four recorded cellular links is then faster than by Sprout-ACK.
/// RFC 6817 allows 100 ms.
const IDLE_TARGET: Duration = Duration::from_millis(25);

/// Time after a key for which the user counts as typing. Chosen: no pause in seven recorded sessions is longer.
const TYPING: Duration = Duration::from_secs(5);

/// Number of kept base delays, each of a period [`ENTRY`]. Chosen: the queue drains at least once in three periods, and
/// one is spare. RFC 6817 keeps ten minutes, in which clocks that drift apart by 50 ppm differ by six times [`TARGET`].
const BASE: usize = 4;

/// Time over which an entry of the base delays is measured. Chosen: in four entries, clocks 50 ppm apart drift by 3 ms.
const ENTRY: Duration = Duration::from_secs(15);

/// Least delay of an entry, beyond the base delay, above which the flow's own queue counts as permanent. Chosen: clocks
/// drift less in the time of an entry.
const PERMANENT: Duration = Duration::from_millis(1);

/// How long a queue may last at the least window before the base delay is measured again. So small a window makes no
/// queue: the path is longer now, or another flow queues. Chosen: as long as BBR's filter of the round-trip time
/// (Cardwell et al., ACM Queue 2016).
const STUCK: Duration = Duration::from_secs(10);

/// The least window, which is also the first, in packets. Source: RFC 6817, section 2.5: `MIN_CWND` and `INIT_CWND`.
const LEAST: f64 = 2.0;

/// Round trips without a queue after which the window grows faster. Source: Copa, section 2.2.
const CALM: u32 = 3;

/// The share of the window that remains after a loss with a queue (RFC 6817, section 2.4.1) and without one (TCP Veno).
const DECREASE: f64 = 0.5;
const DECREASE_RANDOM: f64 = 0.8;

/// The congestion controller for file copies.
#[derive(Clone, Debug)]
pub struct LowDelay {
    window: PacketWindow,
    rounds: Rounds,
    delays: Delays,
    /// The round-trip time of the last acknowledged packet, in seconds.
    rtt: f64,
    /// By how many packets the window grows in a round trip without a queue.
    velocity: f64,
    /// Round trips in a row without a queue.
    calm: u32,
    /// The pause in which the queue drains, if there is one.
    drain: Option<Drain>,
    /// When the window last shrank because of a queue. `None` if it never has.
    shrunk_at: Option<Instant>,
    /// Since when a queue has held the window at its least. `None` while the window is larger.
    stuck_since: Option<Instant>,
    /// When [`Controller::on_interaction`] was last called. `None` before the first call.
    typed_at: Option<Instant>,
}

impl LowDelay {
    /// Creates a controller for full packets of size `packet`.
    pub fn new(packet: Bytes) -> Self {
        Self {
            window: PacketWindow::new(LEAST, LEAST, packet),
            rounds: Rounds::default(),
            delays: Delays::new(BASE, ENTRY),
            rtt: 0.0,
            velocity: 1.0,
            calm: 0,
            drain: None,
            shrunk_at: None,
            stuck_since: None,
            typed_at: None,
        }
    }

    /// Returns the queueing delay that the window aims at, in seconds.
    fn target(&self, now: Instant) -> f64 {
        let least = TARGET.as_secs_f64();
        if self.typed_at.is_some_and(|at| now.saturating_since(at) < TYPING) {
            return least;
        }
        (self.rtt - self.queueing()).clamp(least, IDLE_TARGET.as_secs_f64())
    }

    /// Returns the current queueing delay, in seconds. A small window uses half as many samples as it has packets. More
    /// samples would span a round trip.
    fn queueing(&self) -> f64 {
        self.delays.current(whole(self.window.packets / 2.0).max(1))
    }

    /// Shrinks the window by the number of packets that make the queue too long.
    fn shrink(&mut self, now: Instant, queueing: f64) {
        (self.velocity, self.calm, self.shrunk_at) = (1.0, 0, Some(now));
        let excess = queueing - self.target(now);
        let too_many = self.window.packets * excess / self.rtt.max(excess);
        self.window.packets = (self.window.packets - too_many).max(LEAST);
        // The window now grows by `grow`, because slow start would overshoot.
        self.window.end_slow_start();
        let since = *self.stuck_since.get_or_insert(now);
        if self.window.packets > LEAST {
            self.stuck_since = None;
        } else if now.saturating_since(since) > STUCK {
            (self.delays, self.stuck_since) = (Delays::new(BASE, ENTRY), None);
            self.window = PacketWindow::new(LEAST, LEAST, self.window.packet());
        }
    }

    /// Restores the window if a packet that was sent at this time found the queue drained.
    fn end_drain(&mut self, sent: Instant) {
        if let Some(drain) = self.drain.take_if(|it| sent >= it.until) {
            self.window.packets = drain.packets;
        }
    }

    /// Grows the window after a round trip with this least queueing delay.
    fn grow(&mut self, now: Instant, queueing: f64) {
        let target = self.target(now);
        self.stuck_since = None;
        self.calm = if queueing < target / 2.0 { self.calm.saturating_add(1) } else { 0 };
        // A larger window lengthens the queue only a round trip later. So the growth is at most the target queue.
        let most = self.window.packets * target / self.rtt.max(target);
        let faster = (2.0 * self.velocity).min(most).max(1.0);
        self.velocity = if self.calm > CALM { faster } else { 1.0 };
        self.window.packets += self.velocity * (1.0 - queueing / target).max(0.0);
    }
}

impl Controller for LowDelay {
    fn on_start(&mut self, _: Instant) {
        *self = Self { typed_at: self.typed_at, ..Self::new(self.window.packet()) };
    }

    fn on_ack(&mut self, now: Instant, ack: &Ack) {
        let ended = self.delays.update(now, ack);
        let is_permanent = ended.is_some_and(|least| least > PERMANENT.as_secs_f64());
        self.rtt = ack.rtt.as_secs_f64();
        let ended = self.rounds.update(now, ack.sent, ack.rtt);
        let (least, current) = (ended.and_then(|_| self.delays.end_round()), self.queueing());
        self.end_drain(ack.sent);
        if ack.is_app_limited || self.drain.is_some() {
            return;
        }
        if is_permanent && self.window.packets > LEAST {
            self.drain = Some(Drain { packets: self.window.packets, until: now + ack.rtt });
            self.window.packets = LEAST;
            return;
        }
        let target = self.target(now);
        let is_urgent = current > URGENT * target;
        let too_long =
            if is_urgent { Some(current) } else { least.filter(|least| *least > target) };
        if self.window.is_starting() {
            self.window.packets += self.window.packets_in(ack.size);
            if too_long.is_some() {
                // The window has doubled since a round trip ago, when the queue was short.
                self.window.packets = (self.window.packets / 2.0).max(LEAST);
                self.window.end_slow_start();
                self.shrunk_at = Some(now);
            }
        } else if let Some(queueing) = too_long {
            // Packets that were sent before the window shrank tell nothing about the new window.
            if self.shrunk_at.is_none_or(|at| at < ack.sent) {
                self.shrink(now, queueing);
            }
        } else if let Some(least) = least {
            self.grow(now, least);
        }
    }

    fn on_loss(&mut self, now: Instant, loss: &Loss) {
        self.window.packets = self.drain.take().map_or(self.window.packets, |it| it.packets);
        let has_queue = self.queueing() > URGENT * TARGET.as_secs_f64();
        self.window.cut(now, loss, if has_queue { DECREASE } else { DECREASE_RANDOM });
        (self.velocity, self.calm) = (1.0, 0);
    }

    fn on_spurious_loss(&mut self, sent: Instant) {
        self.window.undo(sent);
    }

    fn on_interaction(&mut self, now: Instant) {
        self.typed_at = self.typed_at.max(Some(now));
    }

    fn on_mtu_update(&mut self, packet: Bytes) {
        self.window.on_mtu_update(packet);
    }

    fn window(&self) -> Bytes {
        self.window.bytes()
    }
}

/// A pause with the least window, in which the flow's own queue drains. The base delay can then be measured. Without
/// the pause, the delay of a permanent queue would become the base delay. The window would add another queue to it.
/// Source: the periodic slowdown of LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus).
#[derive(Clone, Copy, Debug)]
struct Drain {
    /// The window that is restored after the pause, in packets.
    packets: f64,
    /// When packets begin to find no queue: one round trip after the drain began.
    until: Instant,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{PACKET, Path};

    /// Returns a controller whose user types all the time.
    fn typing() -> LowDelay {
        let typed_at = Some(Instant::ZERO + Duration::from_secs(1_000_000));
        LowDelay { typed_at, ..LowDelay::new(PACKET) }
    }

    #[test]
    fn slow_start_ends_with_the_queue_and_the_window_stays_at_its_target() {
        // The path carries 50 packets in a round trip of 100 ms, and 2.5 in 5 ms of queue.
        let mut path = Path::with_rate(typing(), 100, 500);
        let windows = path.windows(40);
        assert_eq!(windows[..5], [2, 4, 8, 16, 32]);
        for window in path.windows(100) {
            assert!((50..=55).contains(&window), "{window}");
        }
    }

    #[test]
    fn a_slow_link_has_no_more_than_two_packets_in_its_queue() {
        // The path carries 4 packets in a round trip of 40 ms.
        let mut path = Path::with_rate(typing(), 40, 100);
        path.windows(40);
        for window in path.windows(100) {
            assert!((4..=6).contains(&window), "{window}");
        }
    }

    #[test]
    fn a_window_without_a_queue_doubles_its_growth_after_three_round_trips() {
        let mut path = Path::new(typing(), 100);
        path.windows(8);
        path.lose();
        let windows = path.windows(9);
        let growth: Vec<u64> = windows.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(growth[..7], [1, 1, 1, 2, 4, 8, 16]);
        assert!(growth[7] < 30, "5 % of the window are a queue of 5 ms: {growth:?}");
    }

    #[test]
    fn a_short_round_trip_has_as_short_a_queue() {
        let mut wired =
            Path { rtt: Duration::from_micros(200), ..Path::with_rate(typing(), 1, 100_000) };
        wired.windows(1_000);
        for window in wired.windows(1_000) {
            assert!(
                (300..=550).contains(&window),
                "20 packets in a round trip, 500 in 5 ms: {window}"
            );
        }
    }

    #[test]
    fn a_path_that_becomes_longer_is_used_after_a_while() {
        let mut path = Path::new(typing(), 20);
        path.windows(2);
        path.lose();
        path.windows(5);
        let mut path = Path { now: path.now, ..Path::with_rate(path.controller, 300, 500) };
        let windows = path.windows(200);
        assert!(windows[..30].contains(&2), "the delay looks like a queue: {windows:?}");
        let used = windows[60..].iter().filter(|it| **it > 100).count();
        assert!(used > 130, "150 packets in a round trip, but for one drain: {windows:?}");
    }

    #[test]
    fn packets_that_are_late_by_chance_shrink_no_window_and_a_late_round_trip_does() {
        // First, a packet of each round trip is on time. Second, all but the very first packet are late by 8 ms.
        for (second, shrinks) in [(0, false), (8, true)] {
            let mut controller = typing();
            controller.window.packets = 40.0;
            controller.window.end_slow_start();
            for number in 0..120_u64 {
                let late = match number % 40 {
                    _ if number == 0 => 0,
                    1 => second,
                    _ => 8,
                };
                let sent = Instant::from_millis(1_000 + 100 * (number / 40) + number % 40);
                let received = sent + Duration::from_millis(20 + late);
                let (now, rtt) =
                    (received + Duration::from_millis(20), received.saturating_since(sent));
                let ack = Ack {
                    sent,
                    received,
                    size: PACKET,
                    rtt,
                    in_flight: PACKET,
                    is_app_limited: false,
                };
                controller.on_ack(now, &ack);
            }
            assert_eq!(controller.window.packets < 40.0, shrinks, "{}", controller.window.packets);
        }
    }

    #[test]
    fn the_queue_of_an_hour_is_no_longer_than_that_of_a_minute() {
        // The path carries 50 packets in a round trip of 100 ms, 2.5 in 5 ms of queue, and 12.5 in 25 ms.
        for (controller, most) in [(typing(), 55), (LowDelay::new(PACKET), 66)] {
            let mut path = Path::with_rate(controller, 100, 500);
            path.windows(40);
            let windows = path.windows(36_000);
            assert!(windows.iter().all(|it| *it <= most), "{:?}", windows.iter().max());
            let used: u64 = windows.iter().map(|it| it.min(&50)).sum();
            assert!(used > 36_000 * 49, "{used} packets of {}", 36_000 * 50);
        }
    }

    #[test]
    fn clocks_that_drift_apart_neither_slow_the_copy_nor_lengthen_the_queue() {
        for drift in [-5e-5, 5e-5] {
            let mut path = Path { drift, ..Path::with_rate(typing(), 100, 500) };
            path.windows(40);
            let windows = path.windows(36_000);
            assert!(windows.iter().all(|it| *it <= 57), "{drift}: {:?}", windows.iter().max());
            let used: u64 = windows.iter().map(|it| it.min(&50)).sum();
            assert!(used > 36_000 * 47, "{drift}: {used} packets of {}", 36_000 * 50);
        }
    }

    #[test]
    fn a_loss_costs_half_of_a_window_with_a_queue_and_a_fifth_without() {
        for (rate, share) in [(Some(500), 0.5), (None, 0.8)] {
            let mut path = match rate {
                Some(rate) => Path::with_rate(typing(), 100, rate),
                None => Path::new(typing(), 100),
            };
            let before = path.windows(6)[5];
            if rate.is_some() {
                // Doubling the window fills a queue that the controller has not reduced yet.
                path.controller.window.packets *= 2.0;
                path.windows(1);
            }
            let window = path.controller.window.packets;
            path.lose();
            let left = path.controller.window.packets / window;
            assert!((left - share).abs() < 1e-9, "{rate:?}: {left} of {before}");
        }
    }

    #[test]
    fn the_queue_is_short_within_two_round_trips_of_a_key_and_longer_after_five_seconds_without() {
        // The path carries 50 packets in a round trip of 100 ms, 12 in 25 ms of queue, and 2.5 in 5 ms.
        let mut path = Path::with_rate(LowDelay::new(PACKET), 100, 500);
        let idle = path.windows(100)[99];
        assert!((60..=64).contains(&idle), "{idle}");
        path.controller.on_interaction(path.now);
        let typed = path.windows(40);
        for window in &typed[2..] {
            assert!((50..=55).contains(window), "{typed:?}");
        }
        // An interaction with an earlier time changes nothing.
        path.controller.on_interaction(Instant::ZERO);
        assert!(path.windows(5)[4] <= 55);
        let idle = path.windows(40)[39];
        assert!((60..=64).contains(&idle), "{idle}");
    }
}
