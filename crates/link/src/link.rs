//! One direction of a path.
//!
//! A packet meets, in this order: loss and duplication at entry, the drop-tail queue and the
//! bottleneck's rate, then the delay with its jitter.

use std::collections::BTreeMap;

use rove_units::{BitRate, Bytes, Duration, Instant, Stream};

use crate::queue::DropTail;

/// Most bytes on the way behind the bottleneck; packets beyond are dropped.
/// Chosen: two seconds of 1 Gbit/s, past which the model is of no use and only memory grows.
const IN_FLIGHT_MAX: Bytes = Bytes::mib(256);

/// What one direction of a path does to packets. The default is a wire: no delay, no loss, no limit.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Constant one-way delay.
    pub delay: Duration,
    /// Uniform extra delay in `[0, jitter]`.
    pub jitter: Duration,
    /// Whether jitter may reorder packets; otherwise each waits for the one before it.
    pub reorder: bool,
    /// Probability that a packet is lost at entry, each on its own.
    pub loss: f64,
    /// Probability that a packet arrives twice.
    pub duplicate: f64,
    /// The bottleneck's rate; `None` for no bottleneck.
    pub rate: Option<BitRate>,
    /// Most bytes that wait before the bottleneck; the packet in transmission is not counted.
    pub queue_max: Bytes,
    /// What a packet takes in the queue and at the bottleneck beyond its own length: headers.
    pub overhead: Bytes,
}

impl Default for LinkConfig {
    fn default() -> Self {
        Self {
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            reorder: false,
            loss: 0.0,
            duplicate: 0.0,
            rate: None,
            queue_max: Bytes::MAX,
            overhead: Bytes::ZERO,
        }
    }
}

impl LinkConfig {
    /// Creates a link that only delays.
    pub fn lossless(delay: Duration) -> Self {
        Self { delay, ..Self::default() }
    }

    /// Creates a link that nothing gets through.
    pub fn outage() -> Self {
        Self { loss: 1.0, ..Self::default() }
    }
}

/// What became of the packets so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Packets that entered.
    pub entered: u64,
    /// Packets lost at entry.
    pub lost: u64,
    /// Packets the full queue refused.
    pub overflowed: u64,
    /// Extra copies made.
    pub duplicated: u64,
    /// Packets that came out, copies included.
    pub delivered: u64,
}

/// One direction of a path: a state machine that packets go into and come out of.
///
/// `P` is a packet; its length decides its transmission time. Every decision is a function of the
/// packet's number, so it does not depend on when or how often the link is polled.
#[derive(Clone, Debug)]
pub struct Link<P> {
    config: LinkConfig,
    chance: Chance,
    stats: LinkStats,
    /// Packets still to be dropped on request.
    doomed: u64,
    queue: DropTail<Queued<P>>,
    /// When the bottleneck has sent what it is sending.
    busy_until: Instant,
    /// Packets past the bottleneck by arrival; the number keeps equal times in order.
    in_flight: BTreeMap<(Instant, u64), P>,
    in_flight_bytes: Bytes,
    /// The arrival no later packet may precede while order is kept.
    last_arrival: Instant,
    departures: u64,
}

#[derive(Clone, Debug)]
struct Queued<P> {
    packet: P,
    propagation: Duration,
}

/// The link's draws, each keyed by the number of the packet that entered.
#[derive(Clone, Copy, Debug)]
struct Chance {
    loss: Stream,
    duplicate: Stream,
    jitter: Stream,
    copy_jitter: Stream,
}

impl<P: Clone + AsRef<[u8]>> Link<P> {
    /// Creates an empty link. `chance` decides every loss, duplication and delay by packet number.
    pub fn new(config: LinkConfig, chance: Stream) -> Self {
        Self {
            config,
            chance: Chance {
                loss: chance.fork(0),
                duplicate: chance.fork(1),
                jitter: chance.fork(2),
                copy_jitter: chance.fork(3),
            },
            stats: LinkStats::default(),
            doomed: 0,
            queue: DropTail::default(),
            busy_until: Instant::ZERO,
            in_flight: BTreeMap::new(),
            in_flight_bytes: Bytes::ZERO,
            last_arrival: Instant::ZERO,
            departures: 0,
        }
    }

    /// Takes a packet in. `now` must not lie before an earlier call's.
    pub fn handle_packet(&mut self, now: Instant, packet: P) {
        self.serve(now);
        let number = self.stats.entered;
        self.stats.entered += 1;
        let doomed = self.doomed > 0;
        self.doomed = self.doomed.saturating_sub(1);
        if doomed || self.chance.loss.at(number).chance(self.config.loss) {
            self.stats.lost += 1;
            return;
        }
        if self.chance.duplicate.at(number).chance(self.config.duplicate) {
            self.stats.duplicated += 1;
            let propagation = self.propagation(self.chance.copy_jitter, number);
            self.enqueue(now, Queued { packet: packet.clone(), propagation });
        }
        let propagation = self.propagation(self.chance.jitter, number);
        self.enqueue(now, Queued { packet, propagation });
    }

    /// Returns the next packet whose time has come, or `None`.
    pub fn poll_packet(&mut self, now: Instant) -> Option<P> {
        self.serve(now);
        let first = self.in_flight.first_entry().filter(|first| first.key().0 <= now)?;
        let packet = first.remove();
        self.in_flight_bytes -= size(&packet);
        self.stats.delivered += 1;
        Some(packet)
    }

    /// Returns when to poll next, or `None` while the link is empty.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let arrival = self.in_flight.keys().next().map(|(arrival, _)| *arrival);
        let service = (!self.queue.is_empty()).then_some(self.busy_until);
        [arrival, service].into_iter().flatten().min()
    }

    /// Changes what the link does to packets that enter, or reach the bottleneck, from now on.
    pub fn reconfigure(&mut self, config: LinkConfig) {
        self.config = config;
    }

    /// Loses the next `count` packets that enter, whatever chance says.
    pub fn drop_next(&mut self, count: u64) {
        self.doomed = count;
    }

    /// Returns what became of the packets so far.
    pub const fn stats(&self) -> LinkStats {
        self.stats
    }

    /// Returns the bytes waiting before the bottleneck.
    pub fn queued(&self) -> Bytes {
        self.queue.size()
    }

    fn propagation(&self, stream: Stream, number: u64) -> Duration {
        self.config.delay + self.config.jitter.mul_f64(stream.at(number).unit())
    }

    fn enqueue(&mut self, now: Instant, queued: Queued<P>) {
        if self.config.rate.is_none() && self.queue.is_empty() {
            self.depart(now, queued);
            return;
        }
        // An idle bottleneck takes the packet at once, so a queue of no length still passes traffic.
        if self.queue.is_empty() && self.busy_until <= now {
            self.transmit(now, queued);
        } else {
            let size = size(&queued.packet) + self.config.overhead;
            if !self.queue.push(queued, size, self.config.queue_max) {
                self.stats.overflowed += 1;
            }
        }
    }

    /// Moves everything on that the bottleneck has finished by `now`.
    fn serve(&mut self, now: Instant) {
        while self.busy_until <= now {
            let Some(next) = self.queue.pop() else { return };
            self.transmit(self.busy_until, next);
        }
    }

    fn transmit(&mut self, start: Instant, queued: Queued<P>) {
        let busy = self.config.rate.map_or(Duration::ZERO, |rate| {
            rate.transmission_time(size(&queued.packet) + self.config.overhead)
        });
        self.busy_until = start + busy;
        self.depart(self.busy_until, queued);
    }

    /// Sends a packet on its way behind the bottleneck.
    fn depart(&mut self, departure: Instant, queued: Queued<P>) {
        let size = size(&queued.packet);
        if self.in_flight_bytes + size > IN_FLIGHT_MAX {
            self.stats.overflowed += 1;
            return;
        }
        let mut arrival = departure + queued.propagation;
        if !self.config.reorder {
            arrival = arrival.max(self.last_arrival);
            self.last_arrival = arrival;
        }
        self.in_flight.insert((arrival, self.departures), queued.packet);
        self.in_flight_bytes += size;
        self.departures += 1;
    }
}

fn size(packet: &impl AsRef<[u8]>) -> Bytes {
    Bytes::from(packet.as_ref().len())
}

#[cfg(test)]
mod tests;
