//! Datagrams to and from the peer: numbers, timestamps, addresses and sizes.
//!
//! A datagram that is newer than all before it updates the round-trip time and the peer's address. It shows that the
//! peer is alive. An older datagram that arrives for the first time does neither, but its payload is used. A datagram
//! that has arrived before, or is too old to tell, is refused.

use core::net::SocketAddr;
use core::ops::Range;
use std::collections::VecDeque;

use rove_units::{Duration, Instant, push_newest};

use crate::candidates::Candidates;
use crate::client_path::ClientPath;
use crate::config::Config;
use crate::crypto::Cipher;
use crate::datagram::{DATAGRAM_OVERHEAD, Datagram, Ecn, Sealed, Timestamp16};
use crate::error::{ReceiveError, SendError};
use crate::fragment::FRAGMENT_HEADER_LEN;
use crate::hello::Capabilities;
use crate::key::Key;
use crate::loss_report::LossReports;
use crate::nonce::Direction;
use crate::num::SeqNum;
use crate::path::{Arrival, Loss, Path, Traffic};
use crate::path_size::{PathSize, SIZE_MIN};
use crate::peer_path::PeerPath;
use crate::rtt::RttEstimator;
use crate::rtt_min::RttMin;
use crate::send_timing::{PathView, SendTiming};
use crate::side_path::SIDE_PATH;
use crate::timestamp_echo::TimestampEcho;
use crate::window::Window;

const _: () = assert!(DATAGRAM_OVERHEAD + FRAGMENT_HEADER_LEN < SIZE_MIN);

/// Maximum number of events kept until the driver polls them; older ones are dropped. Chosen: a datagram causes a
/// handful.
const EVENTS_MAX: usize = 64;

/// Whether an end is the client or the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The client: sends to a given address, and may change its local port.
    Client {
        /// The address where the server listens.
        server: SocketAddr,
    },
    /// The server: sends to the source of the newest authentic datagram.
    Server {
        /// Whether the bound socket is IPv6, as a dual-stack socket is. The size of datagrams depends on it.
        ipv6: bool,
    },
}

/// A datagram to be sent now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The address to send the datagram to.
    pub destination: SocketAddr,
    /// The UDP payload.
    pub payload: Vec<u8>,
    /// Whether the datagram probes the path for a larger size. The driver should forbid its fragmentation (the DF bit),
    /// so that a router drops it if it is too large.
    pub tries_size: bool,
}

/// An event on the path to which the driver must react, or which it may show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Client: open a new local UDP port of the same address family, and send from it from now on.
    OpenPort,
    /// Client: close the oldest local ports until `keep` are left.
    ClosePorts {
        /// How many of the newest ports stay open.
        keep: usize,
    },
    /// Server: the client's address is new, has changed, or is reached again after [`Event::PeerLost`].
    PeerMoved(SocketAddr),
    /// Server: nothing arrived for the association timeout, and nothing is sent until the client sends again.
    PeerLost,
}

/// The datagrams between this end and its peer, and the measurements of the path that they give.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) cipher: Cipher,
    pub(crate) sends: Direction,
    pub(crate) next_seq: u64,
    /// The sequence numbers that have arrived.
    pub(crate) window: Window,
    echo: TimestampEcho,
    rtt: RttEstimator,
    rtt_min: RttMin,
    to_peer: PeerPath,
    heard_at: Option<Instant>,
    /// A client's ports and its server's addresses. `None` at a server.
    client: Option<ClientPath>,
    loss_reports: LossReports,
    events: VecDeque<Event>,
    sent: Traffic,
    received: Traffic,
}

/// Returns how many bytes of a fragment's contents fit into a UDP payload of `size` bytes.
pub(crate) const fn contents_of(size: usize) -> usize {
    size - DATAGRAM_OVERHEAD - FRAGMENT_HEADER_LEN
}

/// Returns the length of the UDP payload that carries a fragment with `contents` bytes, in bytes.
pub(crate) const fn size_of(contents: usize) -> usize {
    contents + DATAGRAM_OVERHEAD + FRAGMENT_HEADER_LEN
}

impl Connection {
    pub(crate) fn new(role: Role, key: &Key, config: &Config, now: Instant) -> Self {
        let (sends, peer, ipv6) = match role {
            Role::Client { server } => (Direction::ToServer, Some(server), server.is_ipv6()),
            Role::Server { ipv6 } => (Direction::ToClient, None, ipv6),
        };
        Self {
            cipher: Cipher::new(key),
            sends,
            next_seq: 0,
            window: Window::new(),
            echo: TimestampEcho::default(),
            rtt: RttEstimator::new(),
            rtt_min: RttMin::default(),
            to_peer: PeerPath::new(peer, PathSize::new(ipv6, config.path.tries_sizes)),
            heard_at: None,
            client: peer.map(|server| ClientPath::new(server, now)),
            loss_reports: LossReports::default(),
            events: VecDeque::new(),
            sent: Traffic::default(),
            received: Traffic::default(),
        }
    }

    /// Returns the memory that holds everything derived from the key ([`Cipher::memory`]).
    pub(crate) fn key_memory(&self) -> Range<*const u8> {
        self.cipher.memory()
    }

    /// Opens an arrived datagram, or returns why it is refused. Updates the path. The peer need not send until
    /// `hears_by`.
    pub(crate) fn open(
        &mut self,
        now: Instant,
        source: SocketAddr,
        ecn: Ecn,
        bytes: &[u8],
        hears_by: Option<Instant>,
        config: &Config,
    ) -> Result<(Vec<u8>, Arrival), ReceiveError> {
        let sealed = Sealed::parse(self.sends.opposite(), bytes)?;
        let seq = sealed.seq();
        // Sequence numbers are in clear text, so a datagram that has arrived before is refused without decryption.
        // Anybody can claim a number, so it is recorded only after the tag was verified.
        if !self.window.takes(seq) {
            return Err(ReceiveError::Replayed { seq });
        }
        let datagram = sealed.open(&mut self.cipher)?;
        let missing = self.window.settled_loss().missing;
        let is_newest = self.window.record(seq);
        if self.window.settled_loss().missing > missing {
            self.loss_reports.handle_loss_of_peers();
        }
        self.received.count(bytes.len());
        let client = self.client.as_mut();
        if let Some(keep) = client.and_then(|client| client.hop.prune(now, &config.path)) {
            self.push_event(Event::ClosePorts { keep });
        }
        let is_echo = datagram.timestamp_reply.is_some();
        self.steer(|client| client.handle_source(now, source, is_echo));
        let mut arrival = Arrival::default();
        if is_newest {
            self.handle_newest(now, source, ecn, &datagram, config);
            arrival = self.handle_heard(now, source, hears_by, config);
        }
        tracing::trace!(seq = seq.get(), bytes = bytes.len(), "datagram received");
        Ok((datagram.payload, arrival))
    }

    /// Handles an authentic stream packet of `bytes` bytes. If it is the newest, a server then sends to its source.
    pub(crate) fn handle_packet(
        &mut self,
        now: Instant,
        (source, bytes, is_newest): (SocketAddr, usize, bool),
        hears_by: Option<Instant>,
        config: &Config,
    ) -> Arrival {
        self.received.count(bytes);
        self.client.iter_mut().for_each(|client| client.companion.handle_answer());
        if is_newest {
            self.handle_heard(now, source, hears_by, config)
        } else {
            Arrival::default()
        }
    }

    /// Addresses a sealed stream packet to the peer. `None` while no peer is known.
    pub(crate) fn address(&mut self, payload: Vec<u8>) -> Option<Transmit> {
        let destination = self.to_peer.address?;
        self.client.iter_mut().for_each(|client| client.companion.handle_packet(&payload));
        self.sent.count(payload.len());
        Some(Transmit { destination, payload, tries_size: false })
    }

    /// Seals a payload for the peer. `None` while no peer is known. If `is_answer`, the peer does not reply to it.
    pub(crate) fn seal(
        &mut self,
        now: Instant,
        payload: Vec<u8>,
        is_answer: bool,
        config: &Config,
    ) -> Option<Result<Transmit, SendError>> {
        debug_assert!(
            payload.len() >= FRAGMENT_HEADER_LEN,
            "less than a fragment header ends a stock peer"
        );
        let destination = self.to_peer.address?;
        if let Some(client) = &mut self.client {
            client.handle_sent(now, &payload, is_answer, self.to_peer.size.stock());
        }
        let sealed = self.seal_for(now, destination, payload);
        self.after_send(now, is_answer, config);
        Some(sealed)
    }

    /// Returns the stream packet that is due with the newest datagram. Without one, seals a client's newest payload
    /// once more if a probe of a server's address is due. Otherwise returns `None`.
    pub(crate) fn poll_probe(
        &mut self,
        now: Instant,
        config: &Config,
    ) -> Option<Result<Transmit, SendError>> {
        let client = self.client.as_mut()?;
        if let Some((destination, payload)) = client.companion.poll() {
            self.sent.count(payload.len());
            return Some(Ok(Transmit { destination, payload, tries_size: false }));
        }
        let (destination, payload) = client.poll_probe(now, &config.path)?;
        if client.side.is_used() && destination != SIDE_PATH {
            self.hop_if_due(now, false, config);
        }
        tracing::debug!(%destination, "probing");
        Some(self.seal_for(now, destination, payload))
    }

    /// Returns when [`Connection::poll_probe`] is due. `None` while no probe is needed.
    pub(crate) fn probe_at(&self, config: &Config) -> Option<Instant> {
        self.client.as_ref()?.probe_at(&config.path)
    }

    /// Called when this computer's network has changed. Returns whether a client tries at once to reach its server.
    pub(crate) fn handle_network_change(&mut self, now: Instant) -> bool {
        let Some(client) = &mut self.client else { return false };
        self.to_peer.handle_network_change();
        client.handle_network_change(now)
    }

    /// Returns how many times the path to the peer may have changed.
    pub(crate) const fn path_changes(&self) -> u64 {
        self.to_peer.changes
    }

    fn seal_for(
        &mut self,
        now: Instant,
        destination: SocketAddr,
        payload: Vec<u8>,
    ) -> Result<Transmit, SendError> {
        let datagram = Datagram {
            direction: self.sends,
            seq: SeqNum::new(self.next_seq),
            timestamp: Some(Timestamp16::from_millis(now.as_millis())),
            timestamp_reply: self.echo.take(now),
            payload,
        };
        self.next_seq += 1;
        let payload = datagram.seal(&mut self.cipher)?;
        self.sent.count(payload.len());
        tracing::trace!(seq = datagram.seq.get(), bytes = payload.len(), "datagram sent");
        Ok(Transmit { destination, payload, tries_size: false })
    }

    /// Returns a client's paths to its server; `None` at a server.
    pub(crate) fn client(&self) -> Option<&ClientPath> {
        self.client.as_ref()
    }

    /// Returns the addresses at which a client's server may be reached, for the caller to change; `None` at a server.
    pub(crate) fn candidates_mut(&mut self) -> Option<&mut Candidates> {
        self.client.as_mut().map(|client| &mut client.candidates)
    }

    pub(crate) const fn peer(&self) -> Option<SocketAddr> {
        self.to_peer.address
    }

    pub(crate) fn rtt(&self) -> &RttEstimator {
        &self.rtt
    }

    /// Returns the sender's present intervals; `peer` is the set of extensions that both ends offer.
    pub(crate) fn send_timing(&self, config: &Config, peer: Capabilities) -> SendTiming {
        let path = PathView {
            rtt_min: self.rtt_min.get(),
            // The peer reports the loss on the way to it. Without reports, the loss in the other direction is used.
            loss_out: self.loss_reports.rate().unwrap_or_else(|| self.window.loss_rate()),
            loss_in: self.window.loss_rate(),
            contents_max: self.contents_max(),
        };
        SendTiming::new(config, &self.rtt, path, peer)
    }

    pub(crate) fn path(&self) -> Path {
        Path {
            srtt: self.rtt.srtt(),
            rttvar: self.rtt.rttvar(),
            loss_in: self.window.loss(),
            loss_out: self.loss_reports.heard(),
            sent: self.sent,
            received: self.received,
            heard_at: self.heard_at,
            hops: self.client.as_ref().map_or(0, |client| client.hop.count()),
        }
    }

    /// Returns the loss report that an instruction sent now carries. `None` while no report is due.
    pub(crate) fn poll_loss_report(&mut self, now: Instant, interval: Duration) -> Option<Loss> {
        self.loss_reports.poll(now, self.window.settled_loss(), interval)
    }

    /// Called with the peer's report on the datagrams that were sent to it.
    pub(crate) fn handle_loss_report(&mut self, report: Loss) {
        self.loss_reports.handle_report(report, self.next_seq);
        if let Some(report) = self.loss_reports.heard() {
            self.size().handle_report(report);
        }
    }

    /// Returns how many datagrams the peer has sent, as the highest arrived sequence number shows.
    pub(crate) const fn peer_datagrams(&self) -> u64 {
        self.window.sent()
    }

    /// Returns the largest number of an instruction's bytes that one datagram carries.
    pub(crate) const fn contents_max(&self) -> usize {
        contents_of(self.to_peer.size.get())
    }

    /// Returns the datagram size on the path to the peer, for the caller to change.
    pub(crate) const fn size(&mut self) -> &mut PathSize {
        &mut self.to_peer.size
    }

    /// Called when the system refused to send a datagram because its `len` bytes are too many.
    pub(crate) fn handle_message_too_long(&mut self, now: Instant, len: usize) {
        if let Some(client) = &mut self.client {
            client.handle_refused(len);
        }
        self.size().handle_refused(now, len);
        tracing::debug!(len, "datagram refused for its size");
    }

    pub(crate) fn handle_roundtrip(&mut self, sent_at: Instant) {
        if let Some(client) = &mut self.client {
            client.handle_roundtrip(sent_at);
        }
    }

    /// Called when a client's driver has opened or closed the side path ([`ClientPath::handle_side_path`]).
    pub(crate) fn handle_side_path(&mut self, now: Instant, is_open: bool, fails: bool) {
        self.steer(|client| client.handle_side_path(now, is_open, fails));
    }

    /// Removes an address of the server, which the client then no longer uses.
    pub(crate) fn remove_candidate(&mut self, now: Instant, address: SocketAddr) {
        self.steer(|client| client.remove_candidate(now, address));
    }

    /// Applies a change to a client's paths. If `change` returns true, datagrams go to the changed destination.
    fn steer(&mut self, change: impl FnOnce(&mut ClientPath) -> bool) {
        let Some(client) = &mut self.client else { return };
        if !change(client) {
            return;
        }
        self.loss_reports.forgive(client.side.take_dropped(), self.next_seq);
        let peer = client.destination();
        self.to_peer.handle_moved(peer, peer.is_ipv6());
    }

    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Returns whether the newest datagram shows a server that its client has moved, or is back after a silence. The
    /// client should have sent within a heartbeat interval, or by `hears_by` if that is later. If the datagram comes
    /// more than another interval later, it ends a silence.
    fn regains(
        &self,
        now: Instant,
        source: SocketAddr,
        hears_by: Option<Instant>,
        config: &Config,
    ) -> bool {
        let (None, Some(heard_at)) = (&self.client, self.heard_at) else { return false };
        let expected_at = hears_by.max(Some(heard_at + config.heartbeat.interval));
        self.peer() != Some(source)
            || expected_at.is_some_and(|at| now.saturating_since(at) > config.heartbeat.interval)
    }

    fn handle_newest(
        &mut self,
        now: Instant,
        source: SocketAddr,
        ecn: Ecn,
        datagram: &Datagram,
        config: &Config,
    ) {
        if let Some(timestamp) = datagram.timestamp {
            self.echo.hold(now, timestamp, ecn);
        }
        // The new address is chosen first, so that the round trip is attributed to it.
        let is_aside = source == SIDE_PATH || self.client().is_some_and(|it| it.side.is_used());
        if !is_aside {
            self.steer(|client| client.handle_answer(now, source));
        }
        if let Some(reply) = datagram.timestamp_reply {
            let sample = Timestamp16::from_millis(now.as_millis()).millis_since(reply);
            let sample = Duration::from_millis(sample.into());
            if self.rtt.handle_sample(now, sample, &config.rtt) {
                self.rtt_min.handle_sample(now, sample);
                self.handle_roundtrip(now - sample);
            }
        }
    }

    /// Records that the peer has sent a datagram from `source`. A server then sends to `source`.
    fn handle_heard(
        &mut self,
        now: Instant,
        source: SocketAddr,
        hears_by: Option<Instant>,
        config: &Config,
    ) -> Arrival {
        let is_peer_moved = self.client.is_none() && self.peer() != Some(source);
        let is_peer_regained = self.regains(now, source, hears_by, config);
        self.heard_at = Some(now);
        if is_peer_moved {
            self.to_peer.handle_moved(source, self.to_peer.size.is_ipv6());
            tracing::info!(%source, "client has moved");
            self.push_event(Event::PeerMoved(source));
        }
        Arrival { is_peer_moved, is_peer_regained }
    }

    fn after_send(&mut self, now: Instant, is_answer: bool, config: &Config) {
        if let Some(client) = &self.client {
            if !client.side.is_used() {
                self.hop_if_due(now, is_answer, config);
            }
        } else if self
            .heard_at
            .is_none_or(|heard_at| now.saturating_since(heard_at) > config.path.association_timeout)
        {
            self.to_peer.address = None;
            tracing::info!("client not heard for the association timeout");
            self.push_event(Event::PeerLost);
        }
    }

    /// If the network has long answered nothing, asks for another local port, and may switch to another address.
    fn hop_if_due(&mut self, now: Instant, is_answer: bool, config: &Config) {
        let Some(ClientPath { hop, side, .. }) = &mut self.client else { return };
        if !hop.hops(now, is_answer, &config.path) {
            return;
        }
        let keep = hop.prune(now, &config.path);
        tracing::debug!("no round trip on this port: trying another");
        if !side.is_used() {
            self.steer(|client| client.candidates.handle_no_roundtrip(now));
            self.to_peer.handle_port_change();
        }
        self.push_event(Event::OpenPort);
        keep.into_iter().for_each(|keep| self.push_event(Event::ClosePorts { keep }));
    }

    fn push_event(&mut self, event: Event) {
        push_newest(&mut self.events, event, EVENTS_MAX);
    }
}
