//! The two ends of a flow: one sends what a source says, the other acknowledges each datagram.

use core::net::SocketAddr;
use std::collections::{BTreeMap, VecDeque};

use rove_congestion::{Ack, Loss};
use rove_link::net::End;
use rove_units::{Bytes, Duration, Instant};

use crate::flow::source::Source;
use crate::metrics::Delivery;

/// The first bytes of every datagram of a flow. A session's datagram cannot: its number would be 2^63 - 1.
pub(super) const MARK: [u8; 8] = [0xff; 8];

/// Bits of a datagram's own number. The bits above are the number of its sender, if a path has several senders.
pub(super) const NUMBER_BITS: u32 = 48;

/// A datagram counts as lost when one with a number this much higher is acknowledged. Source: RFC 9002, section 6.1.1.
const REORDERING: u64 = 3;

/// How long nothing is acknowledged before all datagrams in flight count as lost. Chosen: longer than any queue or
/// outage of the links here lasts. It only keeps a flow from waiting for ever.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// The age, as a multiple of the round-trip time, at which a datagram counts as lost if a newer one was acknowledged.
/// Source: RFC 9002, section 6.1.2: 9/8.
const LATE_SHARE: f64 = 1.125;

/// Shortest wait after the last datagram until a probe asks whether the datagrams in flight are lost. Source: Linux's
/// least retransmission timeout; RFC 9002, section 6.2, has the rule.
const PROBE_MIN: Duration = Duration::from_millis(200);

/// The time before the first probe while no round-trip time is known. Source: RFC 9002, section 6.2.2: twice 333 ms.
const PROBE_FIRST: Duration = Duration::from_millis(666);

/// The payload of a datagram that only keeps a flow from being silent. Chosen: that of a QUIC packet with a PING frame.
const HEARTBEAT: Bytes = Bytes::new(40);

/// Bits of an acknowledgment's word for the arrival time in nanoseconds, enough for three days. The bits above tell
/// which of the 16 datagrams before the acknowledged one had arrived, the nearest in the lowest bit.
const TIME_BITS: u32 = 48;

/// Most arrivals that a receiver keeps for the figures. Chosen: an hour of 30 Mbit/s, 400 MB.
pub(super) const ARRIVALS_MAX: usize = 10_000_000;

/// A datagram that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When the datagram was sent, and when it arrived.
    pub delivery: Delivery,
    /// The size of the datagram's payload.
    pub size: Bytes,
}

/// Sends datagrams when a source says so, and tells its controller whether they arrive. Lost data is not sent again,
/// because nobody reads it: a flow is measured by its datagrams.
#[derive(Debug)]
pub struct Sender<S> {
    source: S,
    peer: SocketAddr,
    is_started: bool,
    sent: u64,
    lost: u64,
    /// The datagrams in flight, from the oldest on. An acknowledged datagram is `None`.
    in_flight: VecDeque<Option<Flying>>,
    in_flight_bytes: Bytes,
    /// When a datagram was last acknowledged, or sent while none was in flight.
    heard_at: Instant,
    probe: Probe,
}

/// A datagram in flight.
#[derive(Clone, Copy, Debug)]
struct Flying {
    size: Bytes,
    sent: Instant,
}

/// The timer for probes: datagrams beyond the window, sent because nothing has been acknowledged for long.
#[derive(Clone, Copy, Debug, Default)]
struct Probe {
    srtt: Option<Duration>,
    rttvar: Duration,
    /// How many probes there were since a datagram was last acknowledged.
    count: u32,
    /// When the last datagram of any kind was sent.
    sent_at: Instant,
    /// The largest size of a datagram so far.
    size: Bytes,
    /// The size of the probe that is to be sent now. `None` if no probe is due.
    due: Option<Bytes>,
}

impl Probe {
    /// Updates the timer with a sample of the round-trip time. Source: RFC 6298, section 2.
    fn update(&mut self, rtt: Duration) {
        let srtt = self.srtt.unwrap_or(rtt);
        let off = if self.srtt.is_some() { srtt.abs_diff(rtt) } else { rtt * 2 };
        self.rttvar = self.rttvar - self.rttvar / 4 + off / 4;
        self.srtt = Some(srtt - srtt / 8 + rtt / 8);
        (self.count, self.due) = (0, None);
    }

    fn timeout(&self) -> Instant {
        let timeout = self.srtt.map_or(PROBE_FIRST, |srtt| (srtt + 4 * self.rttvar).max(PROBE_MIN));
        self.sent_at + timeout.saturating_mul(1 << self.count.min(6)).min(SILENCE_MAX)
    }

    /// Returns the age at which a datagram counts as lost if a newer one was acknowledged.
    fn lateness(&self) -> Duration {
        self.srtt.unwrap_or(PROBE_FIRST).mul_f64(LATE_SHARE)
    }
}

impl<S: Source> Sender<S> {
    /// Creates an end that sends nothing before [`Sender::start`].
    pub fn new(source: S, peer: SocketAddr) -> Self {
        Self {
            source,
            peer,
            is_started: false,
            sent: 0,
            lost: 0,
            in_flight: VecDeque::new(),
            in_flight_bytes: Bytes::ZERO,
            heard_at: Instant::ZERO,
            probe: Probe::default(),
        }
    }

    /// Starts to send. A second call has no effect.
    pub fn start(&mut self, now: Instant) {
        if !self.is_started {
            self.is_started = true;
            self.source.start(now);
        }
    }

    /// Returns how many datagrams were sent.
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns the window in bytes; 0 if the source has no window.
    pub fn window(&self) -> Bytes {
        self.source.window()
    }

    /// Returns how many datagrams the sender gave up as lost.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns the number of the first datagram in `in_flight`.
    fn oldest(&self) -> u64 {
        self.sent - u64::try_from(self.in_flight.len()).unwrap_or_default()
    }

    fn remove(&mut self, number: u64) -> Option<Flying> {
        let place = usize::try_from(number.checked_sub(self.oldest())?).ok()?;
        let flying = self.in_flight.get_mut(place)?.take()?;
        self.in_flight_bytes -= flying.size;
        self.forget();
        Some(flying)
    }

    /// Forgets acknowledged datagrams up to the oldest one that is not acknowledged.
    fn forget(&mut self) {
        while self.in_flight.front().is_some_and(Option::is_none) {
            self.in_flight.pop_front();
        }
    }

    /// Gives up datagrams, the oldest first, as long as `is_lost` holds for the number and the time of sending.
    fn lose(&mut self, now: Instant, is_persistent: bool, is_lost: impl Fn(u64, Instant) -> bool) {
        let mut number = self.oldest();
        let mut loss: Option<Loss> = None;
        while let Some(oldest) = self.in_flight.front().copied() {
            if let Some(Flying { size, sent }) = oldest {
                if !is_lost(number, sent) {
                    break;
                }
                self.in_flight_bytes -= size;
                self.lost += 1;
                let size = loss.map_or(size, |loss| loss.size + size);
                loss = Some(Loss { sent, size, in_flight: Bytes::ZERO, is_persistent });
            }
            self.in_flight.pop_front();
            number += 1;
        }
        let in_flight = self.in_flight_bytes;
        debug_assert!(self.lost <= self.sent, "only a datagram that was sent is lost");
        debug_assert!(!self.in_flight.is_empty() || in_flight == Bytes::ZERO, "none have no bytes");
        if let Some((loss, controller)) = loss.zip(self.source.controller()) {
            controller.on_loss(now, &Loss { in_flight, ..loss });
        }
    }

    /// Tells the controller that a datagram has arrived, given its one-way delay and its round-trip time.
    fn acknowledge(
        &mut self,
        now: Instant,
        of: Flying,
        times: [Duration; 2],
        is_app_limited: bool,
    ) {
        let (Flying { size, sent }, [delay, rtt]) = (of, times);
        let (received, in_flight) = (sent + delay, self.in_flight_bytes);
        if let Some(controller) = self.source.controller() {
            controller.on_ack(now, &Ack { sent, received, size, rtt, in_flight, is_app_limited });
        }
    }

    /// Returns whether any datagram was acknowledged.
    pub const fn is_answered(&self) -> bool {
        self.probe.srtt.is_some()
    }

    fn silence_ends(&self) -> Option<Instant> {
        (!self.in_flight.is_empty()).then(|| self.heard_at + SILENCE_MAX)
    }

    /// Returns when a probe is due. Only a controller needs probes; without a controller none is due.
    fn probe_due(&self) -> Option<Instant> {
        let is_asked = self.source.is_controlled() && !self.in_flight.is_empty();
        (is_asked && self.probe.due.is_none()).then(|| self.probe.timeout())
    }

    fn heartbeat_due(&self) -> Option<Instant> {
        let is_asked = !self.in_flight.is_empty() && self.probe.due.is_none();
        self.source.heartbeat().filter(|_| is_asked).map(|silence| self.probe.sent_at + silence)
    }

    fn handle_ack(&mut self, now: Instant, number: u64, received: Instant, earlier: u64) {
        // A second acknowledgment of a datagram changes nothing, nor does one of a datagram that was given up as lost.
        let Some(newest) = self.remove(number) else { return };
        self.heard_at = now;
        let rtt = now.saturating_since(newest.sent);
        self.probe.update(rtt);
        let delay = received.saturating_since(newest.sent);
        let is_app_limited = self.source.is_app_limited();
        // As with TCP, this acknowledgment replaces earlier ones that were lost. All get its delay and its round trip.
        for back in (1..=u64::from(u64::BITS - TIME_BITS)).rev() {
            let number = number.checked_sub(back).filter(|_| earlier >> (back - 1) & 1 == 1);
            if let Some(flying) = number.and_then(|number| self.remove(number)) {
                self.acknowledge(now, flying, [delay, rtt], is_app_limited);
            }
        }
        self.acknowledge(now, newest, [delay, rtt], is_app_limited);
        let end = number.saturating_sub(REORDERING - 1);
        // A datagram counts as lost because of its age only if there is a controller.
        let lateness = self.probe.lateness();
        let is_controlled = self.source.is_controlled();
        self.lose(now, false, |other, at| {
            other < end || (is_controlled && other < number && at + lateness <= now)
        });
        let in_flight = self.in_flight_bytes;
        if let Some(controller) = self.source.controller() {
            controller.on_end_acks(now, in_flight, is_app_limited);
        }
    }
}

impl<S: Source> End for Sender<S> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        let (Some(number), Some(word)) = (word(payload, 1), word(payload, 2)) else { return };
        self.peer = source;
        let received = Instant::from_nanos(word & ((1 << TIME_BITS) - 1));
        self.handle_ack(now, number, received, word >> TIME_BITS);
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.silence_ends().is_some_and(|end| end <= now) {
            self.lose(now, true, |_, _| true);
        }
        if self.probe_due().is_some_and(|due| due <= now) {
            self.probe.due = Some(self.probe.size);
            self.probe.count += 1;
        }
        if self.heartbeat_due().is_some_and(|due| due <= now) {
            self.probe.due = Some(HEARTBEAT);
        }
        if let Some(controller) = self.source.controller()
            && controller.poll_timeout().is_some_and(|due| due <= now)
        {
            controller.on_tick(now);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        let size = self.source.poll_send(now, self.in_flight_bytes).or(self.probe.due)?;
        self.probe.due = None;
        if self.in_flight.is_empty() {
            self.heard_at = now;
        }
        let mut payload = Vec::with_capacity(usize::try_from(size.get()).unwrap_or_default());
        payload.extend(MARK);
        payload.extend(self.sent.to_be_bytes());
        payload.extend(now.as_nanos().to_be_bytes());
        payload.resize(payload.capacity(), 0);
        self.in_flight.push_back(Some(Flying { size, sent: now }));
        self.in_flight_bytes += size;
        (self.probe.sent_at, self.probe.size) = (now, self.probe.size.max(size));
        self.sent += 1;
        let in_flight = self.in_flight_bytes;
        if let Some(controller) = self.source.controller() {
            controller.on_sent(now, size, in_flight);
        }
        Some((self.peer, payload))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let waits = [self.silence_ends(), self.probe_due(), self.heartbeat_due()];
        waits.into_iter().chain([self.source.poll_timeout()]).flatten().min()
    }
}

/// Acknowledges datagrams, and keeps when each of them arrived.
#[derive(Debug)]
pub struct Receiver {
    peer: SocketAddr,
    arrivals: Vec<Arrival>,
    /// The highest number that arrived. The bits of `before` tell which lower numbers arrived, the nearest first.
    highest: Option<u64>,
    before: u64,
    /// The number and the arrival time of each datagram that is yet to be acknowledged.
    unacknowledged: VecDeque<(u64, Instant)>,
    /// How long an acknowledgment waits for a second datagram of the same sender. Both are then acknowledged.
    delay: Duration,
    /// The number and the arrival time of each sender's datagram whose acknowledgment waits.
    waiting: BTreeMap<u64, (u64, Instant)>,
}

impl Receiver {
    /// Creates an end that has received nothing, and acknowledges every datagram at once.
    pub const fn new(peer: SocketAddr) -> Self {
        Self::with_delay(peer, Duration::ZERO)
    }

    /// Creates an end that acknowledges a sender's datagrams in pairs, and a single one late (RFC 1122, 4.2.3.2).
    pub const fn with_delay(peer: SocketAddr, delay: Duration) -> Self {
        Self {
            peer,
            arrivals: Vec::new(),
            highest: None,
            before: 0,
            unacknowledged: VecDeque::new(),
            delay,
            waiting: BTreeMap::new(),
        }
    }

    /// Notes that the datagram with this number has arrived.
    fn note(&mut self, number: u64) {
        let Some(highest) = self.highest.replace(number) else { return };
        let bits = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        if let Some(step) = number.checked_sub(highest + 1) {
            self.before = ((self.before << 1) | 1).checked_shl(bits(step)).unwrap_or(0);
        } else {
            self.highest = Some(highest);
            let back = highest.checked_sub(number + 1).map(bits);
            self.before |= back.and_then(|back| 1_u64.checked_shl(back)).unwrap_or(0);
        }
    }

    /// Returns when the last datagram arrived.
    pub fn last_arrival(&self) -> Option<Instant> {
        self.arrivals.last().map(|arrival| arrival.delivery.arrived)
    }

    /// Returns the arrivals, in order.
    pub fn arrivals(&self) -> &[Arrival] {
        &self.arrivals
    }

    /// Returns the arrivals, in order, and forgets them.
    pub fn take_arrivals(&mut self) -> Vec<Arrival> {
        core::mem::take(&mut self.arrivals)
    }
}

impl End for Receiver {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        let (Some(number), Some(sent)) = (word(payload, 1), word(payload, 2)) else { return };
        self.peer = source;
        self.note(number);
        let first = self.waiting.remove(&(number >> NUMBER_BITS));
        if first.is_none() && self.delay > Duration::ZERO {
            self.waiting.insert(number >> NUMBER_BITS, (number, now));
        } else {
            self.unacknowledged.extend(first.into_iter().chain([(number, now)]));
        }
        let delivery = Delivery { sent: Instant::from_nanos(sent), arrived: now };
        keep(&mut self.arrivals, Arrival { delivery, size: Bytes::from(payload.len()) });
    }

    fn handle_timeout(&mut self, now: Instant) {
        let (delay, due) = (self.delay, &mut self.unacknowledged);
        self.waiting.retain(|_, waiting| {
            let stays = waiting.1 + delay > now;
            due.extend((!stays).then_some(*waiting));
            stays
        });
    }

    fn poll_transmit(&mut self, _: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        let (number, at) = self.unacknowledged.pop_front()?;
        let before = if self.highest == Some(number) { self.before } else { 0 };
        debug_assert!(at.as_nanos() >> TIME_BITS == 0, "no flow lasts three days");
        let word = (before << TIME_BITS) | at.as_nanos();
        Some((self.peer, [MARK, number.to_be_bytes(), word.to_be_bytes()].concat()))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.waiting.values().map(|(_, at)| *at + self.delay).min()
    }
}

/// Keeps an arrival, unless [`ARRIVALS_MAX`] are kept already.
pub(super) fn keep(arrivals: &mut Vec<Arrival>, arrival: Arrival) {
    let last = arrivals.last().map(|last| last.delivery.arrived);
    debug_assert!(last <= Some(arrival.delivery.arrived), "arrivals are in order");
    if arrivals.len() < ARRIVALS_MAX {
        arrivals.push(arrival);
    }
}

/// Returns the `index`-th 64-bit number of a payload, counted from 0.
pub(super) fn word(payload: &[u8], index: usize) -> Option<u64> {
    let bytes = payload.get(8 * index..8 * (index + 1))?;
    bytes.try_into().ok().map(u64::from_be_bytes)
}
