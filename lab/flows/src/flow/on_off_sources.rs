//! On-off sources: senders that share a path. Each has flows of its own, one after another, with pauses between.
//!
//! Each flow transfers some packets, and ends when all are acknowledged. The flow's own controller decides when its
//! packets go. Lost packets are sent again. [`Receiver`](crate::flow::ends::Receiver) is the other end.

use core::net::SocketAddr;
use core::ops::Range;
use std::collections::{BTreeMap, VecDeque};

use rove_congestion::{Ack, Controller, Loss};
use rove_link::net::End;
use rove_runs::statistics::whole;
use rove_units::{Bytes, Duration, Instant, Stream};

use crate::flow::ends::{MARK, NUMBER_BITS, word};
use crate::flow::source::exponential;

/// A packet counts as lost when one with a number this much higher is acknowledged. Source: RFC 9002, section 6.1.1.
const REORDERING: u64 = 3;

/// The retransmission timeout before a round trip is known, and the smallest one later. Source: RFC 6298, section 2.1,
/// but the smallest is Linux's, because the RFC's second would be half of a short flow.
const TIMEOUTS: [Duration; 2] = [Duration::from_secs(1), Duration::from_millis(200)];

/// Longest retransmission timeout. Source: RFC 6298, section 2.5.
const TIMEOUT_MAX: Duration = Duration::from_secs(60);

/// Index in a payload of the two bytes with the sender's number, the first bytes of the packet's number after the mark.
pub const SENDER_PLACE: usize = MARK.len();

/// How flow sizes are drawn: from a distribution, with larger sizes reduced to the largest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSize {
    /// How sizes are distributed.
    pub distribution: Distribution,
    /// The largest size.
    pub largest: Bytes,
    /// The payload of a packet.
    pub packet: Bytes,
}

/// A distribution of sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Distributed exponentially around a mean.
    Exponential(Bytes),
    /// A least size and a part with a heavy tail. Source: the Remy paper's fit of flows seen at a research institute.
    /// It is Pareto(x + 40) with a least of 147 bytes and an exponent of 0.5, and 16 kB more.
    HeavyTailed,
}

impl FlowSize {
    /// Returns how many packets a flow has, given the quantile `unit` of its size, in `[0, 1)`.
    fn packets(self, unit: f64) -> u64 {
        let bytes = match self.distribution {
            Distribution::Exponential(mean) => -(mean.get() as f64) * (1.0 - unit).ln(),
            Distribution::HeavyTailed => {
                let tail = 147.0 * (1.0 - unit).powi(-2) - 40.0;
                16_384.0 + tail
            }
        };
        let bytes = bytes.min(self.largest.get() as f64);
        whole((bytes / self.packet.get() as f64).ceil()).max(1)
    }
}

/// The figures of a sender.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderFigures {
    /// Packets that were acknowledged.
    pub packets: u64,
    /// How long the sender had something to send.
    pub on: Duration,
    /// The sum of the queueing times of acknowledged packets: each packet's round trip less the empty path's.
    pub queueing: Duration,
}

/// A flow under way.
#[derive(Debug)]
struct Flow {
    controller: Box<dyn Controller>,
    /// The payload of a packet.
    packet: Bytes,
    started: Instant,
    /// How many packets are yet to be sent, for the first time or again after a loss.
    left: u64,
    /// When each packet in flight was sent.
    in_flight: BTreeMap<u64, Instant>,
    last_sent: Option<Instant>,
    /// Smoothed round-trip time and its variation (RFC 6298).
    rtt: Option<(Duration, Duration)>,
    /// When all packets in flight count as lost, unless one is acknowledged sooner.
    timeout_at: Instant,
    /// How many retransmission timeouts came in a row.
    timeouts: u32,
}

impl Flow {
    fn timeout(&self) -> Duration {
        let [first, least] = TIMEOUTS;
        let timeout = self.rtt.map_or(first, |(srtt, var)| (srtt + 4 * var).max(least));
        timeout.saturating_mul(1 << self.timeouts.min(10)).min(TIMEOUT_MAX)
    }

    fn in_flight_bytes(&self) -> Bytes {
        Bytes::new(self.packet.get() * self.in_flight.len() as u64)
    }

    /// Returns when the next packet may go, maybe in the past. `None` until an acknowledgment, or if no packet is left.
    fn sends_at(&self) -> Option<Instant> {
        let in_flight = self.in_flight_bytes();
        let is_open =
            in_flight + self.packet <= self.controller.window() || self.in_flight.is_empty();
        let last = |last: Instant| last + self.controller.spacing();
        (self.left > 0 && is_open).then(|| self.last_sent.map_or(Instant::ZERO, last))
    }

    fn note_rtt(&mut self, rtt: Duration) {
        // RFC 6298, section 2.3.
        self.rtt = Some(match self.rtt {
            None => (rtt, rtt / 2),
            Some((srtt, var)) => ((srtt * 7 + rtt) / 8, (var * 3 + srtt.abs_diff(rtt)) / 4),
        });
    }

    /// Gives up the packets with numbers below `end`.
    fn lose_below(&mut self, now: Instant, end: u64, is_persistent: bool) {
        let kept = self.in_flight.split_off(&end);
        let lost = core::mem::replace(&mut self.in_flight, kept);
        let Some((_, sent)) = lost.last_key_value() else { return };
        self.left += lost.len() as u64;
        let size = Bytes::new(self.packet.get() * lost.len() as u64);
        let loss = Loss { sent: *sent, size, in_flight: self.in_flight_bytes(), is_persistent };
        self.controller.on_loss(now, &loss);
    }
}

/// A sender, in a flow or in a pause.
#[derive(Debug)]
struct Sender {
    flow: Option<Flow>,
    begins: Instant,
    /// How much longer the sender's acknowledgments take than the path's. `on_the_way` holds them back for that time.
    extra: Duration,
    on_the_way: VecDeque<(Instant, u64)>,
    /// The number of the sender's next packet. No number is used twice.
    next: u64,
    chance: Stream,
    /// How many random sizes and pauses the sender has drawn.
    draws: u64,
    figures: SenderFigures,
}

/// Senders at one end of a path. Each alternates between a flow and a pause.
pub struct OnOffSources<F> {
    senders: Vec<Sender>,
    /// Makes the controller of a flow, given its sender's number.
    controller: F,
    size: FlowSize,
    mean_pause: Duration,
    /// The time that a packet and its acknowledgment take without queues.
    base: Duration,
    peer: SocketAddr,
    /// The sender that is asked first for a packet.
    turn: usize,
}

impl<F: Fn(usize) -> Box<dyn Controller>> OnOffSources<F> {
    /// Creates `count` senders, all in a pause.
    pub fn new(
        count: usize,
        size: FlowSize,
        mean_pause: Duration,
        base: Duration,
        peer: SocketAddr,
        chance: Stream,
        controller: F,
    ) -> Self {
        let senders = (0..count as u64).map(|number| {
            let mut sender = Sender {
                flow: None,
                begins: Instant::ZERO,
                extra: Duration::ZERO,
                on_the_way: VecDeque::new(),
                next: number << NUMBER_BITS,
                chance: chance.fork(number),
                draws: 0,
                figures: SenderFigures::default(),
            };
            sender.begins = Instant::ZERO + exponential(mean_pause, sender.draw());
            sender
        });
        Self { senders: senders.collect(), controller, size, mean_pause, base, peer, turn: 0 }
    }

    /// Delays the acknowledgments of these senders by `extra`, and the start of their first flows by `start`.
    pub fn set_apart(&mut self, senders: Range<usize>, extra: Duration, start: Duration) {
        for sender in &mut self.senders[senders] {
            sender.extra = extra;
            sender.begins += start;
        }
    }

    /// Returns the figures of each sender up to now.
    pub fn figures(&self, now: Instant) -> Vec<SenderFigures> {
        let of = |sender: &Sender| {
            let mut figures = sender.figures;
            if let Some(flow) = &sender.flow {
                figures.on += now.saturating_since(flow.started);
            }
            figures
        };
        self.senders.iter().map(of).collect()
    }
}

impl Sender {
    fn draw(&mut self) -> f64 {
        self.draws += 1;
        self.chance.at(self.draws).unit()
    }

    /// Counts an acknowledgment. If it is the last of a flow, a pause begins.
    fn acknowledge(&mut self, now: Instant, number: u64, base: Duration, mean_pause: Duration) {
        if self.is_last(now, number, base + self.extra)
            && let Some(flow) = self.flow.take()
        {
            self.figures.on += now.saturating_since(flow.started);
            self.begins = now + exponential(mean_pause, self.draw());
        }
    }

    /// Counts an acknowledgment, and returns whether it ends the flow.
    fn is_last(&mut self, now: Instant, number: u64, base: Duration) -> bool {
        let Some(flow) = &mut self.flow else { return false };
        // An acknowledgment of a packet that was given up, or of an earlier flow, is ignored.
        let Some(sent) = flow.in_flight.remove(&number) else { return false };
        let rtt = now.saturating_since(sent);
        self.figures.packets += 1;
        self.figures.queueing += rtt.saturating_sub(base);
        flow.note_rtt(rtt);
        flow.timeouts = 0;
        flow.timeout_at = now + flow.timeout();
        let ack = Ack {
            sent,
            received: now,
            size: flow.packet,
            rtt,
            in_flight: flow.in_flight_bytes(),
            is_app_limited: flow.left == 0,
        };
        flow.controller.on_ack(now, &ack);
        flow.lose_below(now, number.saturating_sub(REORDERING - 1), false);
        let (in_flight, is_app_limited) = (flow.in_flight_bytes(), flow.left == 0);
        flow.controller.on_end_acks(now, in_flight, is_app_limited);
        flow.left == 0 && flow.in_flight.is_empty()
    }
}

impl<F: Fn(usize) -> Box<dyn Controller>> End for OnOffSources<F> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        let Some(number) = word(payload, 1) else { return };
        self.peer = source;
        let place = usize::try_from(number >> NUMBER_BITS).unwrap_or(usize::MAX);
        let Some(sender) = self.senders.get_mut(place) else { return };
        if sender.extra.is_zero() {
            sender.acknowledge(now, number, self.base, self.mean_pause);
        } else {
            sender.on_the_way.push_back((now + sender.extra, number));
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        for (place, sender) in self.senders.iter_mut().enumerate() {
            while let Some((_, number)) = sender.on_the_way.pop_front_if(|(at, _)| *at <= now) {
                sender.acknowledge(now, number, self.base, self.mean_pause);
            }
            if sender.flow.is_none() && sender.begins <= now {
                let mut controller = (self.controller)(place);
                controller.on_start(now);
                let left = self.size.packets(sender.draw());
                sender.flow = Some(Flow {
                    controller,
                    packet: self.size.packet,
                    started: now,
                    left,
                    in_flight: BTreeMap::new(),
                    last_sent: None,
                    rtt: None,
                    timeout_at: Instant::FAR_FUTURE,
                    timeouts: 0,
                });
            }
            let Some(flow) = &mut sender.flow else { continue };
            if flow.controller.poll_timeout().is_some_and(|at| at <= now) {
                flow.controller.on_tick(now);
            }
            if !flow.in_flight.is_empty() && flow.timeout_at <= now {
                flow.timeouts += 1;
                flow.timeout_at = now + flow.timeout();
                flow.lose_below(now, u64::MAX, true);
            }
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        let count = self.senders.len();
        for place in (0..count).map(|step| (self.turn + step) % count) {
            let sender = &mut self.senders[place];
            let Some(flow) = &mut sender.flow else { continue };
            if flow.sends_at().is_none_or(|at| at > now) {
                continue;
            }
            if flow.in_flight.is_empty() {
                flow.timeout_at = now + flow.timeout();
            }
            let named = sender.next >> NUMBER_BITS;
            debug_assert_eq!(named, place as u64, "the number of a packet names its sender");
            flow.left -= 1;
            flow.in_flight.insert(sender.next, now);
            flow.last_sent = Some(now);
            let in_flight = flow.in_flight_bytes();
            flow.controller.on_sent(now, flow.packet, in_flight);
            let mut payload =
                Vec::with_capacity(usize::try_from(flow.packet.get()).unwrap_or_default());
            payload.extend(MARK);
            payload.extend(sender.next.to_be_bytes());
            payload.extend(now.as_nanos().to_be_bytes());
            payload.resize(payload.capacity(), 0);
            sender.next += 1;
            self.turn = (place + 1) % count;
            return Some((self.peer, payload));
        }
        None
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let of = |sender: &Sender| match &sender.flow {
            None => Some(sender.begins),
            Some(flow) => {
                let timeout = (!flow.in_flight.is_empty()).then_some(flow.timeout_at);
                let tick = flow.controller.poll_timeout();
                let arrival = sender.on_the_way.front().map(|(at, _)| *at);
                [flow.sends_at(), timeout, tick, arrival].into_iter().flatten().min()
            }
        };
        self.senders.iter().filter_map(of).min()
    }
}

#[cfg(test)]
mod tests {
    use rove_link::LinkConfig;
    use rove_link::net::{LEFT_ADDRESS, Net, RIGHT_ADDRESS};
    use rove_units::{BitRate, Seed};

    use super::*;
    use crate::flow::ends::Receiver;
    use crate::flow::source::FULL;

    /// A window that never changes.
    #[derive(Debug)]
    struct TwentyPackets;

    impl Controller for TwentyPackets {
        fn on_ack(&mut self, _: Instant, _: &Ack) {}

        fn on_loss(&mut self, _: Instant, _: &Loss) {}

        fn on_mtu_update(&mut self, _: Bytes) {}

        fn window(&self) -> Bytes {
            Bytes::new(20 * FULL.get())
        }
    }

    fn of_mean(mean: Bytes) -> FlowSize {
        FlowSize {
            distribution: Distribution::Exponential(mean),
            largest: Bytes::MAX,
            packet: FULL,
        }
    }

    fn run(count: usize, size: FlowSize, loss: f64, seed: u64) -> Vec<SenderFigures> {
        run_to(Receiver::new(LEFT_ADDRESS), count, size, loss, seed)
    }

    fn run_to(
        receiver: Receiver,
        count: usize,
        size: FlowSize,
        loss: f64,
        seed: u64,
    ) -> Vec<SenderFigures> {
        let uplink = LinkConfig {
            delay: Duration::from_millis(50),
            rate: BitRate::from_bits_per_second(12_000_000),
            loss,
            ..LinkConfig::default()
        };
        let chance = Seed::new(seed).stream("crowd");

        let controller = |_| -> Box<dyn Controller> { Box::new(TwentyPackets) };
        let base = Duration::from_millis(51);
        let pause = Duration::from_millis(500);
        let left = OnOffSources::new(count, size, pause, base, RIGHT_ADDRESS, chance, controller);
        let mut net = Net::new(left, receiver, uplink, LinkConfig::default(), Seed::new(seed));
        net.run_for(Duration::from_secs(200));
        net.left.figures(Instant::ZERO + Duration::from_secs(200))
    }

    #[test]
    fn a_lone_sender_has_its_window_each_round_trip_and_no_queue() {
        let size = of_mean(Bytes::mib(1));
        let figures = run(1, size, 0.0, 1)[0];
        // A round trip of 51 ms carries 20 packets. The last round trip of each flow counts as well, but carries less.
        let rate = figures.packets as f64 / figures.on.as_secs_f64();
        assert!((360.0..393.0).contains(&rate), "{rate} packets/s");
        let queueing = figures.queueing.as_secs_f64() * 1e3 / figures.packets as f64;
        assert!(queueing < 20.0, "{queueing} ms: a window's burst, and nothing more");
        assert_eq!(figures.packets, run(1, size, 0.0, 1)[0].packets, "the same seed");
    }

    #[test]
    fn delayed_acknowledgments_come_in_pairs_or_after_their_time() {
        let size = of_mean(Bytes::mib(1));
        let delay = Duration::from_millis(100);
        let delayed = run_to(Receiver::with_delay(LEFT_ADDRESS, delay), 1, size, 0.0, 1)[0];
        let at_once = run(1, size, 0.0, 1)[0];
        assert!(delayed.packets > at_once.packets / 2 && delayed.packets < at_once.packets);
        // The only packet of a flow is acknowledged after the delay, because no second packet follows it.
        let single = FlowSize { largest: Bytes::new(1), ..size };
        let waits = run_to(Receiver::with_delay(LEFT_ADDRESS, delay), 1, single, 0.0, 1)[0];
        let wait = waits.queueing.as_secs_f64() * 1e3 / waits.packets as f64;
        assert!((95.0..105.0).contains(&wait), "{wait} ms");
    }

    #[test]
    fn lost_packets_are_sent_again_until_a_flow_is_whole() {
        let clean = run(4, of_mean(Bytes::new(100_000)), 0.0, 2);
        let lossy = run(4, of_mean(Bytes::new(100_000)), 0.05, 2);
        let packets = |figures: &[SenderFigures]| figures.iter().map(|it| it.packets).sum::<u64>();
        let on =
            |figures: &[SenderFigures]| figures.iter().map(|it| it.on.as_secs_f64()).sum::<f64>();
        assert!(packets(&lossy) > 10_000 && packets(&lossy) < packets(&clean));
        assert!(on(&lossy) / packets(&lossy) as f64 > 1.2 * on(&clean) / packets(&clean) as f64);
    }

    #[test]
    fn sizes_have_the_quantiles_of_their_distributions() {
        let mean = of_mean(Bytes::new(100_000));
        let tail =
            FlowSize { distribution: Distribution::HeavyTailed, largest: Bytes::MAX, packet: FULL };
        assert_eq!(mean.packets(0.0), 1);
        assert_eq!(mean.packets(0.5), 48, "69 kB");
        assert_eq!(tail.packets(0.0), 12, "16 kB and 107 bytes");
        assert_eq!(tail.packets(0.99), 1_010, "1.47 MB more");
        let cut = FlowSize { largest: Bytes::new(1_000_000), ..tail };
        assert_eq!([0.0, 0.99].map(|unit| cut.packets(unit)), [12, 680], "a megabyte at most");
    }
}
