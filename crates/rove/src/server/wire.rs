//! A server's way to its client: datagrams between the socket and the session machine.

use std::collections::VecDeque;
use std::net::{Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

use rove_control::{Handover, SessionName};
use rove_session::{JOINED_MAX, Server};
use rove_udp::Sieve;
use rove_udp::{SendFailure, ServerSocket, receive_waiting};
use rove_units::Instant;

/// Most clients whose way is remembered. Chosen: as many as a session has, and one each that comes and goes.
const WAYS_MAX: usize = JOINED_MAX + 3;

/// The socket, and the address that answers leave from.
pub(super) struct Wire {
    socket: ServerSocket,
    /// How another server asks for the port while this one lingers; closed after the socket.
    pub(super) handover: Option<Handover>,
    /// The name of that, for a session that others may find.
    name: Option<SessionName>,
    sieve: Sieve,
    /// Where clients are, and the address of this computer that each has spoken to, where the system tells. The client
    /// that has changed its address last is at the end.
    ways: VecDeque<(SocketAddr, Option<Ipv6Addr>)>,
}

impl Wire {
    /// Creates the wire of a session that nobody has spoken to.
    pub(super) fn new(socket: ServerSocket, name: Option<SessionName>) -> Self {
        Self { socket, handover: None, name, sieve: Sieve::default(), ways: VecDeque::new() }
    }

    /// Hands the datagrams that wait to the session.
    pub(super) fn receive(&mut self, now: Instant, session: &mut Server) {
        let Self { socket, sieve, ways, .. } = self;
        let result = receive_waiting(socket.get(), |received, payload| {
            let (source, len) = (received.source, payload.len());
            let before = (session.takeovers(), session.client_datagrams());
            if let Err(error) = session.handle_datagram(now, source, received.ecn, payload) {
                tracing::debug!(%error, len, %source, "datagram of no use");
            }
            // A forged one may claim the client's address, in the same turn as the client speaks.
            if (session.takeovers(), session.client_datagrams()) > before {
                note_way(ways, source, received.local);
            } else {
                sieve.handle_stranger();
            }
        });
        if let Err(error) = result {
            tracing::debug!(%error, "receive failed");
        }
    }

    /// Does what is due.
    pub(super) fn handle_timeout(&mut self, now: Instant, session: &Server) {
        self.sieve.handle_timeout(now, session.client_address(), &self.socket);
    }

    /// Returns when to call [`Wire::handle_timeout`].
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.sieve.poll_timeout()
    }

    /// Sends what the session has to say. The next server can have the port before the client hears that its end is
    /// known: it may begin another session at once.
    pub(super) fn send(&mut self, now: Instant, session: &mut Server) {
        while let Some(transmit) = session.poll_transmit(now) {
            if session.lingers_until().is_some()
                && let Some(name) = self.name.take()
            {
                let handover = Handover::open(name)
                    .inspect_err(|error| tracing::debug!(%error, "the port is kept"));
                self.handover = handover.ok();
            }
            let way = self.ways.iter().find(|(client, _)| *client == transmit.destination);
            match self.socket.send_from(&transmit, way.and_then(|(_, local)| *local)) {
                Ok(()) => tracing::trace!(len = transmit.payload.len(), "datagram sent"),
                Err(SendFailure::TooLong) => {
                    session.handle_message_too_long(now, transmit.payload.len());
                }
                Err(error) => tracing::debug!(%error, "datagram not sent"),
            }
        }
    }
}

/// Notes the address of this computer that a client has spoken to.
fn note_way(
    ways: &mut VecDeque<(SocketAddr, Option<Ipv6Addr>)>,
    client: SocketAddr,
    local: Option<Ipv6Addr>,
) {
    if let Some(known) = ways.iter_mut().find(|(known, _)| *known == client) {
        known.1 = local;
        return;
    }
    if ways.len() == WAYS_MAX {
        ways.pop_front();
    }
    ways.push_back((client, local));
}

impl AsFd for Wire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.get().as_fd()
    }
}
