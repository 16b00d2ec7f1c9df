//! An end of a Sprout flow over datagrams that are sealed like those of the State Synchronization Protocol.

use core::net::SocketAddr;

use rove_congestion::sprout::endpoint::Waiting;
use rove_congestion::sprout::packet::Packet;
use rove_congestion::sprout::{Bayesian, Config, Endpoint};
use rove_link::net::End;
use rove_ssp::wire::{Cipher, DATAGRAM_OVERHEAD, Datagram, SeqNum, Timestamp16, Window};
use rove_ssp::{Direction, Key};
use rove_units::{Bytes, Duration, Instant};

/// Largest datagram, in bytes of UDP payload. Source: Sprout's MTU of 1400 bytes, which includes all fields.
pub const DATAGRAM_BYTES: usize = 1_400;

/// How long an end goes on sending to a silent peer, which may be gone. Chosen: longer than any outage of the public
/// links but one. The first datagram of the peer starts the end again.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// Longest time that a peer's timestamp waits for its echo, which measures the path. Source: docs/wire.md, as with SSP.
const ECHO_MAX: Duration = Duration::from_secs(1);

/// Sequence numbers that each run may use. Chosen: more than the full datagrams that one key may seal.
const RUN: u64 = 1 << 40;

/// Most datagrams whose transit times are kept; later ones are left out. Chosen: a quarter of an hour at 12 Mbit/s.
const TRANSITS_MAX: usize = 1_000_000;

/// The data that a session carries.
pub trait Application {
    /// Returns how much data waits to be sent. `deliverable` is what the link carries while the forecast lasts.
    fn waiting(&mut self, deliverable: Bytes) -> Waiting;

    /// Removes and returns the next `size` bytes of data, which the forecast allows.
    fn take(&mut self, size: usize) -> Vec<u8>;

    /// Receives data that has arrived.
    fn deliver(&mut self, data: &[u8]);
}

/// Counters of a session's datagrams.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    /// Datagrams that were sent.
    pub sent: u64,
    /// Authentic datagrams that arrived, each once.
    pub received: u64,
    /// Bytes of UDP payload in the authentic datagrams.
    pub received_bytes: u64,
    /// Datagrams that were refused because they were not authentic, copies, or unreadable.
    pub refused: u64,
    /// When the first authentic datagram came.
    pub first: Option<Instant>,
    /// When the last authentic datagram came.
    pub last: Option<Instant>,
    /// The last sample of the round-trip time.
    pub rtt: Option<Duration>,
    /// The transit time of each datagram in ms, by two clocks that need not agree.
    transits: Vec<i16>,
}

impl Traffic {
    /// Returns a percentile of the queueing delay in ms: the transit time less that of the fastest datagram.
    pub fn queueing_at(&self, percent: u8) -> Option<u16> {
        // Clocks count modulo 65.5 s, so that differences are right up to half of that.
        let first = *self.transits.first()?;
        let mut sorted: Vec<i16> =
            self.transits.iter().map(|transit| transit.wrapping_sub(first)).collect();
        sorted.sort_unstable();
        let rank = (sorted.len() * usize::from(percent.min(100))).div_ceil(100).saturating_sub(1);
        Some(sorted.get(rank)?.abs_diff(*sorted.first()?))
    }

    fn note_transit(&mut self, now: Instant, sent: Option<Timestamp16>) {
        if let Some(sent) = sent.filter(|_| self.transits.len() < TRANSITS_MAX) {
            let millis = Timestamp16::from_millis(now.as_millis()).millis_since(sent);
            self.transits.push(millis.cast_signed());
        }
    }
}

/// An end of a Sprout flow.
#[derive(Debug)]
pub struct Session<A> {
    /// The application whose data the session carries.
    pub application: A,
    /// Counters of the session's datagrams.
    pub traffic: Traffic,
    endpoint: Endpoint<Bayesian>,
    cipher: Cipher,
    direction: Direction,
    peer: Option<SocketAddr>,
    seen: Window,
    /// The run's first sequence number. The far end has it from the first datagram.
    first: Option<u64>,
    /// The peer's last timestamp, and when it came.
    timestamp: Option<(Timestamp16, Instant)>,
    now: Instant,
}

impl<A: Application> Session<A> {
    /// Creates the end that knows its peer's address. It seals its datagrams as a client does.
    pub fn near(key: &Key, peer: SocketAddr, application: A, now: Instant) -> Self {
        let first = Some(0);
        Self { first, ..Self::new(key, Direction::ToServer, Some(peer), application, now) }
    }

    /// Numbers the datagrams of both ends from `first` on. If `first` is drawn at random below 2^62, runs with the same
    /// key use different nonces, and each end refuses datagrams of other runs.
    pub fn numbered_from(self, first: u64) -> Self {
        Self { first: Some(first), ..self }
    }

    /// Creates the end that waits for its peer. It seals its datagrams as a server does.
    pub fn far(key: &Key, application: A, now: Instant) -> Self {
        Self::new(key, Direction::ToClient, None, application, now)
    }

    fn new(
        key: &Key,
        direction: Direction,
        peer: Option<SocketAddr>,
        application: A,
        now: Instant,
    ) -> Self {
        let packet = Bytes::from(DATAGRAM_BYTES - DATAGRAM_OVERHEAD);
        Self {
            application,
            traffic: Traffic::default(),
            endpoint: Endpoint::new(Config::new(packet), Bayesian::new(), now),
            cipher: Cipher::new(key),
            direction,
            peer,
            seen: Window::new(),
            first: None,
            timestamp: None,
            now,
        }
    }

    /// Returns the most data in a datagram.
    pub fn payload_max(&self) -> Bytes {
        self.endpoint.payload_max()
    }

    /// Returns how many bytes the link carries while the forecast lasts.
    pub fn deliverable(&self) -> Bytes {
        self.endpoint.deliverable()
    }

    /// Returns whether the end has stopped sending because the peer never answered.
    pub fn is_given_up(&self, now: Instant) -> bool {
        self.traffic.last.is_none() && self.peer.is_some() && !self.is_peer_there(now)
    }

    /// Returns whether the peer was heard recently enough to be sent to.
    fn is_peer_there(&self, now: Instant) -> bool {
        let heard = self.traffic.last.unwrap_or_default();
        self.peer.is_some() && now.saturating_since(heard) < SILENCE_MAX
    }

    fn open(&mut self, payload: &[u8]) -> Option<Datagram> {
        let opened = Datagram::open(&mut self.cipher, self.direction.opposite(), payload).ok();
        opened.filter(|datagram| {
            let is_of_run = |first: u64| first.abs_diff(datagram.seq.get()) < RUN;
            self.seen.takes(datagram.seq) && self.first.is_none_or(is_of_run)
        })
    }

    fn take_echo(&mut self, now: Instant, datagram: &Datagram) {
        if let Some(reply) = datagram.timestamp_reply {
            let rtt = Timestamp16::from_millis(now.as_millis()).millis_since(reply);
            self.traffic.rtt = Some(Duration::from_millis(rtt.into()));
        }
        self.timestamp = datagram.timestamp.map(|timestamp| (timestamp, now));
    }

    /// Returns the peer's timestamp plus the time that it waited here. `None` if there is none or it is too old.
    fn echo(&mut self, now: Instant) -> Option<Timestamp16> {
        let (timestamp, at) = self.timestamp.take()?;
        let held = now.saturating_since(at);
        let held_millis = u64::try_from(held.as_millis()).unwrap_or(u64::MAX);
        let echo = u64::from(timestamp.get()).saturating_add(held_millis);
        (held < ECHO_MAX).then(|| Timestamp16::from_millis(echo))
    }
}

impl<A: Application> End for Session<A> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        self.now = now;
        let Some(datagram) = self.open(payload) else {
            self.traffic.refused += 1;
            return;
        };
        // An authentic datagram whose fields cannot be read is of another version: it is refused.
        let Some((packet, data)) = Packet::decode(&datagram.payload) else {
            self.traffic.refused += 1;
            return;
        };
        self.first.get_or_insert(datagram.seq.get());
        if self.seen.record(datagram.seq) {
            self.peer = Some(source);
            self.take_echo(now, &datagram);
        }
        self.traffic.note_transit(now, datagram.timestamp);
        self.traffic.received += 1;
        self.traffic.received_bytes += Bytes::from(payload.len()).get();
        self.traffic.first.get_or_insert(now);
        self.traffic.last = Some(now);
        self.endpoint.handle_packet(now, &packet);
        if !data.is_empty() {
            self.application.deliver(data);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.now = now;
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        self.now = now;
        let peer = self.peer.filter(|_| self.is_peer_there(now))?;
        let waiting = self.application.waiting(self.endpoint.deliverable());
        let packet = self.endpoint.poll_send(now, waiting)?;
        let mut payload = Vec::with_capacity(DATAGRAM_BYTES);
        packet.encode(&mut payload);
        if !packet.is_empty() {
            let size = usize::try_from(packet.payload.get()).unwrap_or_default();
            payload.extend(self.application.take(size));
        }
        let datagram = Datagram {
            direction: self.direction,
            seq: SeqNum::new(self.first? + self.traffic.sent),
            timestamp: Some(Timestamp16::from_millis(now.as_millis())),
            timestamp_reply: self.echo(now),
            payload,
        };
        self.traffic.sent += 1;
        // The flow ends when its key has sealed as many blocks as it may.
        Some((peer, datagram.seal(&mut self.cipher).ok()?))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.is_peer_there(self.now).then(|| self.endpoint.poll_timeout(self.now, true)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use rove_link::net::{Net, RIGHT_ADDRESS};
    use rove_link::{LinkConfig, Synthetic};
    use rove_units::{BitRate, Seed};

    use super::*;
    use crate::sprout::bulk::Bulk;

    type Ends = Net<Session<Bulk>, Session<Bulk>>;

    fn net(near: &[u8; 16], far: &[u8; 16], link: LinkConfig) -> Ends {
        let [near, far] = [near, far].map(|key| Key::from_bytes(*key));
        let left = Session::near(&near, RIGHT_ADDRESS, Bulk::sending(), Instant::ZERO);
        let right = Session::far(&far, Bulk::receiving(), Instant::ZERO);
        let back = LinkConfig { schedule: None, ..link.clone() };
        Net::new(left, right, link, back, Seed::new(3))
    }

    fn link() -> LinkConfig {
        let rate = BitRate::from_bits_per_second(6_000_000);
        LinkConfig {
            rate,
            overhead: rove_headless::HEADERS,
            ..LinkConfig::lossless(Duration::from_millis(20))
        }
    }

    #[test]
    fn bulk_data_takes_most_of_a_link_and_does_not_queue() {
        let mut net = net(&[1; 16], &[1; 16], link());
        net.run_for(Duration::from_secs(20));
        let received = net.right.application.received();
        let share = f64::from(u32::try_from(received).expect("20 s")) * 8.0 / 20.0 / 6e6;
        assert!((0.5..1.0).contains(&share), "{share}");
        let rtt = net.left.traffic.rtt.expect("timestamps are echoed");
        assert!(rtt < Duration::from_millis(160), "{rtt:?}");
        assert_eq!(net.left.traffic.refused + net.right.traffic.refused, 0);
    }

    #[test]
    fn datagrams_under_another_key_are_refused_and_not_answered() {
        let mut net = net(&[1; 16], &[2; 16], link());
        net.run_for(Duration::from_secs(5));
        assert!(net.right.traffic.refused > 10 && net.right.traffic.received == 0);
        assert_eq!(net.right.traffic.sent, 0);
    }

    #[test]
    fn copies_and_changed_datagrams_count_nowhere() {
        let mut net = net(&[1; 16], &[1; 16], link());
        let (_, datagram) = net.left.poll_transmit(Instant::ZERO).expect("the first window");
        let source = RIGHT_ADDRESS;
        for place in 0..datagram.len() {
            let mut changed = datagram.clone();
            changed[place] ^= 0x10;
            net.right.handle_datagram(Instant::ZERO, source, &changed);
        }
        assert_eq!((net.right.traffic.received, net.right.application.received()), (0, 0));
        (0..3).for_each(|_| net.right.handle_datagram(Instant::ZERO, source, &datagram));
        assert_eq!(net.right.traffic.received, 1, "each once");
    }

    #[test]
    fn a_second_run_with_a_key_repeats_no_number_and_is_refused_by_both_ends() {
        let key = Key::from_bytes([1; 16]);
        let near = |first| {
            let session = Session::near(&key, RIGHT_ADDRESS, Bulk::sending(), Instant::ZERO);
            session.numbered_from(first)
        };
        let (mut one, mut other) = (near(5 << 40), near(9 << 40));
        let mut far = Session::far(&key, Bulk::receiving(), Instant::ZERO);
        let mut cipher = Cipher::new(&key);
        for (near, received) in [(&mut one, 1), (&mut other, 1)] {
            let (_, sent) = near.poll_transmit(Instant::ZERO).expect("the first window");
            let opened = Datagram::open(&mut cipher, Direction::ToServer, &sent).expect("its key");
            assert_eq!(Some(opened.seq.get()), near.first);
            far.handle_datagram(Instant::ZERO, RIGHT_ADDRESS, &sent);
            assert_eq!(far.traffic.received, received, "only the first run counts");
        }
        let now = Instant::from_millis(200);
        let (_, answer) = far.poll_transmit(now).expect("an answer");
        for (near, received) in [(&mut one, 1), (&mut other, 0)] {
            near.handle_datagram(now, RIGHT_ADDRESS, &answer);
            assert_eq!(near.traffic.received, received, "an answer is of its run");
        }
        assert!(!other.is_given_up(now) && other.is_given_up(now + SILENCE_MAX));
    }

    #[test]
    fn a_session_outlives_minutes_of_silence_and_does_not_storm_in_them() {
        let mut net = net(&[1; 16], &[1; 16], link());
        net.run_for(Duration::from_secs(5));
        net.reconfigure(LinkConfig::outage(), LinkConfig::outage());
        let before = net.left.traffic.sent;
        net.run_for(Duration::from_secs(59));
        let sent = net.left.traffic.sent - before;
        assert!(sent < 59 * 50, "{sent} datagrams into nothing");
        net.reconfigure(link(), link());
        let before = net.right.application.received();
        net.run_for(Duration::from_secs(20));
        let received = net.right.application.received() - before;
        // The ends mistake a link that lets only heartbeats through for a slow one (the last vector of the published
        // inference). They go on with at least 4 % of what the link carries. The proposal has no figure for it.
        assert!(received > 600_000, "{received} bytes in 20 s after it");
        net.reconfigure(LinkConfig::outage(), LinkConfig::outage());
        net.run_for(Duration::from_secs(61));
        let [left, right] = [net.left.traffic.sent, net.right.traffic.sent];
        net.run_for(Duration::from_secs(600));
        assert_eq!(
            [net.left.traffic.sent, net.right.traffic.sent],
            [left, right],
            "nobody is there"
        );
    }

    #[test]
    fn loss_reordering_and_copies_slow_a_session_but_never_stop_it() {
        let jitter = Duration::from_millis(30);
        let bad = LinkConfig { loss: 0.3, duplicate: 0.1, jitter, reorder: true, ..link() };
        let mut net = net(&[1; 16], &[1; 16], bad);
        for _ in 0..6 {
            let before = net.right.application.received();
            net.run_for(Duration::from_secs(10));
            assert!(net.right.application.received() - before > 100_000, "10 s without progress");
        }
    }

    #[test]
    fn drawn_cellular_links_are_used_with_the_same_code() {
        let trace = Synthetic { start: Some(400.0), ..Synthetic::default() };
        let trace = trace.trace(Seed::new(5).stream("trace")).expect("a trace");
        let schedule = Some(rove_link::Schedule::new(trace));
        let mut net = net(&[1; 16], &[1; 16], LinkConfig { rate: None, schedule, ..link() });
        net.run_for(Duration::from_secs(60));
        assert!(net.right.application.received() > 5_000_000);
    }
}
