//! One direction of a path.
//!
//! A packet meets, in this order: loss and duplication at entry, the drop-tail queue and the bottleneck
//! (a rate, or recorded delivery opportunities), then the delay with its jitter.

use std::collections::BTreeMap;

use rove_units::{BitRate, Bytes, Duration, Instant, Stream};

use crate::queue::DropTail;
use crate::trace::{OPPORTUNITY, Schedule};

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
    /// The bottleneck's delivery opportunities, in place of a rate.
    pub schedule: Option<Schedule>,
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
            schedule: None,
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
    /// What delivery opportunities have sent in part, and the bytes still to be sent.
    in_transit: Option<(Queued<P>, Bytes)>,
    /// The number of the next opportunity; `None` while nothing waits for one.
    opportunity: Option<u64>,
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
            in_transit: None,
            opportunity: None,
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
        let service = self.is_waited_for().then(|| self.next_service());
        [arrival, service].into_iter().flatten().min()
    }

    /// Changes what the link does to packets that enter, or reach the bottleneck, from now on.
    pub fn reconfigure(&mut self, config: LinkConfig) {
        self.config = config;
        self.opportunity = None;
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
        if let Some(schedule) = &self.config.schedule {
            // The opportunities of this very instant are over.
            self.opportunity.get_or_insert_with(|| schedule.first_after(now));
            return self.wait(queued);
        }
        if self.config.rate.is_none() && self.queue.is_empty() {
            self.depart(now, queued);
            return;
        }
        // An idle bottleneck takes the packet at once, so a queue of no length still passes traffic.
        if self.queue.is_empty() && self.busy_until <= now {
            self.transmit(now, queued);
        } else {
            self.wait(queued);
        }
    }

    fn wait(&mut self, queued: Queued<P>) {
        let size = self.size(&queued);
        if !self.queue.push(queued, size, self.config.queue_max) {
            self.stats.overflowed += 1;
        }
    }

    /// Moves everything on that the bottleneck has finished by `now`.
    fn serve(&mut self, now: Instant) {
        if let Some(schedule) = self.config.schedule.clone() {
            return self.serve_opportunities(now, &schedule);
        }
        if let Some((queued, _)) = self.in_transit.take() {
            self.transmit(now, queued);
        }
        while self.busy_until <= now {
            let Some(next) = self.queue.pop() else { return };
            self.transmit(self.busy_until, next);
        }
    }

    /// Uses the delivery opportunities up to `now`: each carries whole packets and parts of them, and what
    /// of it nobody waits for is lost.
    fn serve_opportunities(&mut self, now: Instant, schedule: &Schedule) {
        while self.is_waited_for() {
            let number = *self.opportunity.get_or_insert_with(|| schedule.first_after(now));
            let time = schedule.time(number);
            if time > now {
                return;
            }
            self.opportunity = Some(number + 1);
            let mut left = OPPORTUNITY;
            while left > Bytes::ZERO {
                let next = self.in_transit.take();
                let next = next.or_else(|| {
                    let queued = self.queue.pop()?;
                    let size = self.size(&queued);
                    Some((queued, size))
                });
                let Some((queued, rest)) = next else { break };
                if rest > left {
                    self.in_transit = Some((queued, rest - left));
                    break;
                }
                left -= rest;
                self.depart(time, queued);
            }
        }
        self.opportunity = None;
    }

    /// Returns whether something waits for the bottleneck.
    fn is_waited_for(&self) -> bool {
        self.in_transit.is_some() || !self.queue.is_empty()
    }

    /// Returns when the bottleneck takes something again.
    fn next_service(&self) -> Instant {
        match &self.config.schedule {
            // One that was changed just now is looked at when next polled.
            Some(schedule) => {
                self.opportunity.map_or(Instant::ZERO, |number| schedule.time(number))
            }
            None => self.busy_until,
        }
    }

    fn transmit(&mut self, start: Instant, queued: Queued<P>) {
        let size = self.size(&queued);
        let busy = self.config.rate.map_or(Duration::ZERO, |rate| rate.transmission_time(size));
        self.busy_until = start + busy;
        self.depart(self.busy_until, queued);
    }

    /// Returns what a packet takes at the bottleneck.
    fn size(&self, queued: &Queued<P>) -> Bytes {
        size(&queued.packet) + self.config.overhead
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
