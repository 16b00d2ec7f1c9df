//! A client's ways to its server: its local ports, the server's addresses, and the payload that probes them.

use core::net::SocketAddr;

use rove_units::Instant;

use crate::candidates::Candidates;
use crate::config::PathConfig;
use crate::datagram::DATAGRAM_OVERHEAD;
use crate::hop::PortHop;
use crate::path_revalidation::PathRevalidation;

/// A client's local ports, its server's addresses, and the payload for probes.
#[derive(Debug)]
pub(crate) struct ClientPath {
    pub(crate) hop: PortHop,
    pub(crate) candidates: Candidates,
    /// Repeated sends after this computer's network has changed.
    pub(crate) revalidation: PathRevalidation,
    /// The payload of the newest datagram, which probes repeat; empty if it was too large for other paths.
    newest_payload: Vec<u8>,
}

impl ClientPath {
    pub(crate) fn new(server: SocketAddr, now: Instant) -> Self {
        Self {
            hop: PortHop::new(now),
            candidates: Candidates::new(server),
            revalidation: PathRevalidation::default(),
            newest_payload: Vec::new(),
        }
    }

    /// Called when a datagram is sent. Its payload is kept for probes if it fits into a datagram of `size_max` bytes,
    /// as another path may not carry more.
    pub(crate) fn handle_sent(
        &mut self,
        now: Instant,
        payload: &Vec<u8>,
        is_answer: bool,
        size_max: usize,
    ) {
        if !is_answer {
            self.candidates.handle_send(now);
        }
        if payload.len() + DATAGRAM_OVERHEAD <= size_max {
            self.newest_payload.clone_from(payload);
        }
    }

    /// Called when the system has refused a datagram of `len` bytes for its size.
    pub(crate) fn handle_refused(&mut self, len: usize) {
        if len <= self.newest_payload.len() + DATAGRAM_OVERHEAD {
            self.newest_payload.clear();
        }
    }

    /// Notes that the datagram sent at `sent_at` has been answered.
    pub(crate) fn handle_roundtrip(&mut self, sent_at: Instant) {
        self.hop.handle_roundtrip(sent_at);
        self.candidates.handle_roundtrip(sent_at);
        self.revalidation.handle_roundtrip(sent_at);
    }

    /// Returns when to probe the server or another of its addresses next. `None` while no probe is needed.
    pub(crate) fn probe_at(&self, config: &PathConfig) -> Option<Instant> {
        let times = [self.candidates.probe_at(config), self.revalidation.due()];
        times.into_iter().flatten().min().filter(|_| !self.newest_payload.is_empty())
    }

    /// Returns the newest payload and where to repeat it now, or `None`. After a network change that is the server's
    /// current address, else another address that is to be probed.
    pub(crate) fn poll_probe(
        &mut self,
        now: Instant,
        config: &PathConfig,
    ) -> Option<(SocketAddr, Vec<u8>)> {
        self.probe_at(config)?;
        let destination = if self.revalidation.poll(now) {
            self.candidates.handle_send(now);
            self.candidates.current()
        } else {
            self.candidates.poll_probe(now, config)?
        };
        Some((destination, self.newest_payload.clone()))
    }
}
