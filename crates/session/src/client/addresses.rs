//! The ways to the server: its addresses, a tunnel, the system's word on both, and whether the server answers.

use core::net::SocketAddr;

use rove_ssp::{Candidates, SidePath};
use rove_units::Instant;

use super::{Client, ClientOutcome, notice_bar};
use crate::notice::Trouble;

/// Why there is always an address.
const CLIENT: &str = "a client has an address of its server from the start";

impl Client {
    /// Returns where the server listens, as far as is known.
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

    /// Notes that datagrams to [`SIDE_PATH`](rove_ssp::SIDE_PATH) are carried from now on, or no more. Before the first datagram they
    /// all go there at once, later where the network fails; [`Client::uses_side_path`] says so.
    pub fn handle_side_path(&mut self, now: Instant, is_open: bool) {
        self.transport.handle_side_path(now, is_open);
        self.refresh(now);
    }

    /// Returns whether datagrams go by the side path, beside which the server's addresses are only probed.
    pub fn uses_side_path(&self) -> bool {
        self.side_path().is_used()
    }

    /// Returns when the side path is wanted, as the network does not answer.
    pub fn side_path_wanted_at(&self) -> Option<Instant> {
        self.transport.side_path_wanted_at().filter(|_| !self.is_connecting() && !self.is_ending())
    }

    /// Returns when the side path counts as dead unless it brings something.
    pub fn side_path_dead_at(&self) -> Option<Instant> {
        self.side_path().dead_at()
    }

    /// Offers the user to log in for a side path, or does so no more.
    pub fn offer_login(&mut self, now: Instant, is_offered: bool) {
        if self.escape.offer_login(is_offered) {
            self.refresh(now);
        }
    }

    fn side_path(&self) -> &SidePath {
        self.transport.side_path().expect(CLIENT)
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
