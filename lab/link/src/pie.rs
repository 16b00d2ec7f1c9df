//! PIE: drops packets at the tail with a probability that a controller adjusts towards a target delay (RFC 8033).

use rove_units::{Bytes, Draw, Duration, Instant};

use crate::fifo::Fifo;

/// How often the drop probability is updated. Source: RFC 8033, section 4.2 (`T_UPDATE`).
const UPDATE_PERIOD: Duration = Duration::from_millis(15);

/// Gains, per second, for the delay's distance from the target, and for the change of the delay. Source: RFC 8033,
/// section 4.2 (`ALPHA` and `BETA`).
const GAINS: [f64; 2] = [0.125, 1.25];

/// Largest queue for which PIE drops nothing: two packets. Source: RFC 8033, section 4.1 (`MEAN_PKTSIZE`).
const SHORT_QUEUE: Bytes = Bytes::new(2 * 1500);

/// PIE sums the drop probability of packets since its last drop. While the sum is below the first value, it drops no
/// packet. From the second value on, it must drop the arriving packet. Source: RFC 8033, section 5.4 (derandomization).
const ACCUMULATED: [f64; 2] = [0.85, 8.5];

/// Most updates of PIE's drop probability after a time without packets. Chosen: they lower it by a factor of 10^8.
const UPDATES_MAX: u32 = 1_000;

/// Parameters of the PIE queue discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieConfig {
    /// The delay in the queue that the controller aims at (`QDELAY_REF`).
    pub target: Duration,
    /// How long a burst into an idle queue passes without drops (`MAX_BURST`).
    pub burst_max: Duration,
}

impl Default for PieConfig {
    /// Returns the values of RFC 8033, section 4: a target of 15 ms and a burst of 150 ms.
    fn default() -> Self {
        Self { target: Duration::from_millis(15), burst_max: Duration::from_millis(150) }
    }
}

/// The state of PIE.
///
/// PIE needs the delay in the queue. Here this delay is the time that the packet at the head has waited, because every
/// packet carries its arrival time. So PIE need not estimate the departure rate, as RFC 8033 does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pie {
    probability: f64,
    accumulated: f64,
    delay: Duration,
    burst_left: Duration,
    next_update: Option<Instant>,
}

impl Pie {
    /// Performs the updates of the drop probability that are due by `now`. Call this before each change of the queue.
    pub(crate) fn update<P>(&mut self, config: &PieConfig, now: Instant, fifo: &Fifo<P>) {
        let Some(mut due) = self.next_update else {
            self.burst_left = config.burst_max;
            self.next_update = Some(now + UPDATE_PERIOD);
            return;
        };
        let mut updates = 0;
        while due <= now && updates < UPDATES_MAX {
            let delay =
                fifo.head().map_or(Duration::ZERO, |head| due.saturating_since(head.queued));
            self.step(config, delay);
            due += UPDATE_PERIOD;
            updates += 1;
        }
        self.next_update = Some(if due <= now { now + UPDATE_PERIOD } else { due });
    }

    /// Returns whether an arriving packet enters the queue. `draw` is the random number of this packet.
    pub(crate) fn admits<P>(&mut self, config: &PieConfig, fifo: &Fifo<P>, draw: Draw) -> bool {
        if self.burst_left > Duration::ZERO {
            return true;
        }
        let is_calm = self.delay < config.target / 2 && self.probability < 0.2;
        if is_calm || fifo.size() <= SHORT_QUEUE {
            return true;
        }
        if self.probability <= 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.probability;
        let [least, most] = ACCUMULATED;
        let is_dropped = self.accumulated >= most
            || (self.accumulated >= least && draw.chance(self.probability));
        if is_dropped {
            self.accumulated = 0.0;
        }
        !is_dropped
    }

    /// Updates the drop probability from the delay and its last value (RFC 8033, sections 4.2 and 5.5).
    fn step(&mut self, config: &PieConfig, delay: Duration) {
        let (now, old) = (delay.as_secs_f64(), self.delay.as_secs_f64());
        let [alpha, beta] = GAINS;
        let change = alpha * (now - config.target.as_secs_f64()) + beta * (now - old);
        let mut change = change * auto_tuning(self.probability);
        if self.probability >= 0.1 {
            change = change.min(0.02);
        }
        self.probability += change;
        if delay.is_zero() && self.delay.is_zero() {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        let is_idle = self.probability <= 0.0 && delay.max(self.delay) < config.target / 2;
        self.burst_left =
            if is_idle { config.burst_max } else { self.burst_left.saturating_sub(UPDATE_PERIOD) };
        self.delay = delay;
    }
}

/// Returns the factor for both gains. A small probability has a small factor, and so changes in small steps.
fn auto_tuning(probability: f64) -> f64 {
    let table =
        [(1e-6, 2_048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];
    let row = table.into_iter().find(|(below, _)| probability < *below);
    row.map_or(1.0, |(_, divisor)| 1.0 / divisor)
}

#[cfg(test)]
mod tests {
    use rove_units::Seed;

    use super::*;
    use crate::item::{Fate, Item, PacketId};

    fn item(queued: Instant) -> Item<()> {
        Item {
            packet: (),
            id: PacketId { number: 0, is_copy: false },
            flow: 0,
            size: Bytes::new(1500),
            entered: queued,
            queued,
            propagation: Duration::ZERO,
            fate: Fate::Passes,
        }
    }

    /// Offers a packet every `offered` microseconds and serves one per millisecond for ten seconds. Returns the share
    /// of dropped packets, and the mean wait in milliseconds in the last five seconds.
    fn run(config: PieConfig, offered: u64) -> (f64, f64) {
        let (mut pie, mut fifo) = (Pie::default(), Fifo::default());
        let stream = Seed::new(3).stream("pie");
        let (mut number, mut dropped, mut waits) = (0_u64, 0_u64, Vec::new());
        for micros in 0..10_000_000_u64 {
            let now = Instant::from_nanos(micros * 1_000);
            if micros % 1_000 == 0 {
                pie.update(&config, now, &fifo);
                let sent: Option<Item<()>> = fifo.pop();
                let wait = sent.map(|item| now.saturating_since(item.queued).as_secs_f64() * 1e3);
                waits.extend(wait.filter(|_| micros >= 5_000_000));
            }
            if micros % offered == 0 {
                pie.update(&config, now, &fifo);
                number += 1;
                if pie.admits(&config, &fifo, stream.at(number)) {
                    fifo.push(item(now));
                } else {
                    dropped += 1;
                }
            }
        }
        let count = |n: u64| f64::from(u32::try_from(n).unwrap());
        let samples = f64::from(u32::try_from(waits.len()).unwrap());
        (count(dropped) / count(number), waits.iter().sum::<f64>() / samples)
    }

    #[test]
    fn an_overload_is_dropped_and_the_target_held() {
        // A packet each 0.8 ms is a quarter more than the link carries, so a fifth of the packets is too much.
        let (dropped, wait) = run(PieConfig::default(), 800);
        assert!((0.15..0.22).contains(&dropped), "{dropped} dropped, a fifth is too much");
        assert!((12.0..18.0).contains(&wait), "{wait} ms, target 15");
    }

    #[test]
    fn a_link_that_is_not_full_loses_nothing() {
        let (dropped, wait) = run(PieConfig::default(), 1_200);
        assert!(dropped <= 0.0 && wait < 1.5, "{dropped} dropped, {wait} ms");
    }

    #[test]
    fn a_burst_into_an_idle_queue_is_let_through() {
        let config = PieConfig::default();
        let (mut pie, mut fifo) = (Pie::default(), Fifo::default());
        let draw = Seed::new(1).stream("x").at(0);
        for millis in 0..150 {
            let now = Instant::from_millis(millis);
            pie.update(&config, now, &fifo);
            assert!(pie.admits(&config, &fifo, draw), "at {millis} ms");
            fifo.push(item(now));
        }
    }

    #[test]
    fn a_long_silence_is_made_up_for_in_bounded_time() {
        let fifo = Fifo::<()>::default();
        let mut pie = Pie { probability: 0.5, ..Pie::default() };
        pie.update(&PieConfig::default(), Instant::ZERO, &fifo);
        pie.update(&PieConfig::default(), Instant::from_nanos(u64::MAX / 2), &fifo);
        assert!(pie.probability < 1e-8, "{}", pie.probability);
    }
}
