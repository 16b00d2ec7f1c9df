//! The ways to the server: its addresses, a tunnel, the system's word on both, and whether the server answers.

use core::net::SocketAddr;

use rove_ssp::Candidates;
use rove_units::Instant;

use super::{Client, ClientOutcome, notice_bar};
use crate::notice::Trouble;

/// Why there is always an address.
const CLIENT: &str = "a client has an address of its server from the start";

impl Client {
    /// Returns where datagrams go: where the server listens, as far as is known.
    pub fn server(&self) -> SocketAddr {
        notice_bar::server(&self.transport)
    }

    /// Returns the addresses that the server may be reached at.
    pub fn candidates(&self) -> &Candidates {
        self.transport.candidates().expect(CLIENT)
    }

    /// Returns these addresses to add one, or to tell of one that the system has no route to.
    pub fn candidates_mut(&mut self) -> &mut Candidates {
        self.transport.candidates_mut().expect(CLIENT)
    }

    /// Notes that an interface, an address or a route of this computer has changed: the server is spoken to at once.
    pub fn handle_network_change(&mut self, now: Instant) {
        self.transport.handle_network_change(now);
    }

    /// Notes that the host refuses datagrams to the server (ICMP port unreachable).
    pub fn handle_refusal(&mut self, now: Instant) {
        self.notice_bar.refused_at = Some(now);
        self.refresh(now);
    }

    /// Falls back to smaller datagrams after the send of one of `len` bytes failed for its size.
    pub fn handle_message_too_long(&mut self, now: Instant, len: usize) {
        self.transport.handle_message_too_long(now, len);
    }

    /// Shows a local network error (send or receive) to the user for a while.
    pub fn handle_network_error(&mut self, now: Instant, text: &str) {
        self.notice_bar.notices.network_error(now, text);
        self.refresh(now);
    }

    /// Notes the local UDP port that datagrams leave from, for the status.
    pub fn handle_local_port(&mut self, port: u16) {
        self.notice_bar.local_port = Some(port);
    }

    /// Notes that datagrams travel through a tunnel, and the trouble that stops them, which is shown until the next
    /// call.
    pub fn handle_tunnel(&mut self, now: Instant, trouble: Option<Trouble>) {
        if self.notice_bar.notices.tunnel(trouble) {
            self.escape.offer_login(self.notice_bar.notices.needs_login());
            self.refresh(now);
        }
    }

    /// Returns when to leave without an answer, and how the session has ended then. A server that was heard after all
    /// gets all the time that an orderly end takes.
    pub(super) fn pending_farewell(&self) -> Option<(Instant, ClientOutcome)> {
        let is_unheard = |outcome| match outcome {
            ClientOutcome::NeverConnected => self.is_connecting(),
            _ => self.notice_bar.refused_at > self.transport.remote_arrived_at(),
        };
        self.farewell.filter(|&(_, outcome)| self.given_up.is_none() && is_unheard(outcome))
    }
}
