//! The two ends of a flow: one sends what a source says, the other acknowledges each datagram.

use core::net::SocketAddr;
use std::collections::{BTreeMap, VecDeque};

use rove_link::net::End;
use rove_units::{Bytes, Duration, Instant};

use crate::flow::source::Source;
use crate::metrics::Delivery;

/// Every datagram of a flow begins with this. No datagram of a session does: it would be number 2^63 - 1.
pub(super) const MARK: [u8; 8] = [0xff; 8];

/// The mark, the datagram's number, and when it was sent: the least that a datagram has.
pub const HEADER: Bytes = Bytes::new(24);

/// How many later ones must be acknowledged before a datagram counts as lost. Source: RFC 9002, section 6.1.1.
const REORDERING: u64 = 3;

/// How long nothing is acknowledged before everything on its way counts as lost. Chosen: longer than any queue or outage of
/// the links here lasts; it only keeps a flow from waiting for ever.
const SILENCE_MAX: Duration = Duration::from_secs(30);

/// Most arrivals that are kept. Chosen: an hour of 30 Mbit/s, 400 MB.
const ARRIVALS_MAX: usize = 10_000_000;

/// A datagram that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When it was sent, and when it came.
    pub delivery: Delivery,
    /// Its payload.
    pub size: Bytes,
}

/// Sends what a source says. Data is not sent again: a flow is measured by its datagrams, which nobody reads.
#[derive(Debug)]
pub struct Sender<S> {
    source: S,
    peer: SocketAddr,
    is_started: bool,
    sent: u64,
    lost: u64,
    /// The size of each datagram on its way, by its number.
    in_flight: BTreeMap<u64, Bytes>,
    in_flight_bytes: Bytes,
    /// When something was last acknowledged, or sent after nothing was on its way.
    heard_at: Instant,
}

impl<S: Source> Sender<S> {
    /// Creates an end that sends nothing before [`Sender::start`].
    pub const fn new(source: S, peer: SocketAddr) -> Self {
        Self {
            source,
            peer,
            is_started: false,
            sent: 0,
            lost: 0,
            in_flight: BTreeMap::new(),
            in_flight_bytes: Bytes::ZERO,
            heard_at: Instant::ZERO,
        }
    }

    /// Begins.
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

    /// Returns how many datagrams were taken for lost.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    fn remove(&mut self, number: u64) -> bool {
        let size = self.in_flight.remove(&number);
        self.in_flight_bytes -= size.unwrap_or_default();
        size.is_some()
    }

    fn lose_up_to(&mut self, end: u64) {
        while let Some((&number, _)) = self.in_flight.first_key_value().filter(|it| *it.0 < end) {
            self.remove(number);
            self.lost += 1;
        }
    }

    fn silence_ends(&self) -> Option<Instant> {
        (!self.in_flight.is_empty()).then(|| self.heard_at + SILENCE_MAX)
    }
}

impl<S: Source> End for Sender<S> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        let Some(number) = word(payload, 1) else { return };
        self.peer = source;
        // A copy of an acknowledgment, or that of a datagram taken for lost, says nothing new.
        if self.remove(number) {
            self.heard_at = now;
            self.lose_up_to(number.saturating_sub(REORDERING - 1));
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        if self.silence_ends().is_some_and(|end| end <= now) {
            self.lose_up_to(u64::MAX);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        let size = self.source.poll_send(now, self.in_flight_bytes)?;
        if self.in_flight.is_empty() {
            self.heard_at = now;
        }
        let mut payload = Vec::with_capacity(usize::try_from(size.get()).unwrap_or_default());
        payload.extend(MARK);
        payload.extend(self.sent.to_be_bytes());
        payload.extend(now.as_nanos().to_be_bytes());
        payload.resize(payload.capacity(), 0);
        self.in_flight.insert(self.sent, size);
        self.in_flight_bytes += size;
        self.sent += 1;
        Some((self.peer, payload))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        [self.source.poll_timeout(), self.silence_ends()].into_iter().flatten().min()
    }
}

/// Acknowledges every datagram at once, and keeps when it came.
#[derive(Debug)]
pub struct Receiver {
    peer: SocketAddr,
    arrivals: Vec<Arrival>,
    unacknowledged: VecDeque<u64>,
}

impl Receiver {
    /// Creates an end that has received nothing.
    pub const fn new(peer: SocketAddr) -> Self {
        Self { peer, arrivals: Vec::new(), unacknowledged: VecDeque::new() }
    }

    /// Returns what has arrived, in order of arrival, and forgets it.
    pub fn take_arrivals(&mut self) -> Vec<Arrival> {
        core::mem::take(&mut self.arrivals)
    }
}

impl End for Receiver {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        let (Some(number), Some(sent)) = (word(payload, 1), word(payload, 2)) else { return };
        self.peer = source;
        self.unacknowledged.push_back(number);
        if self.arrivals.len() < ARRIVALS_MAX {
            let delivery = Delivery { sent: Instant::from_nanos(sent), arrived: now };
            self.arrivals.push(Arrival { delivery, size: Bytes::from(payload.len()) });
        }
    }

    fn handle_timeout(&mut self, _: Instant) {}

    fn poll_transmit(&mut self, _: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        let number = self.unacknowledged.pop_front()?;
        Some((self.peer, [MARK, number.to_be_bytes()].concat()))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        None
    }
}

/// Returns a number of eight bytes.
fn word(payload: &[u8], index: usize) -> Option<u64> {
    let bytes = payload.get(8 * index..8 * (index + 1))?;
    bytes.try_into().ok().map(u64::from_be_bytes)
}
