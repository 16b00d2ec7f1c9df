//! A server's way to its client: datagrams between the socket and the session machine.

use std::net::Ipv6Addr;
use std::os::fd::{AsFd, BorrowedFd};

use rove_control::{Handover, SessionName};
use rove_session::Server;
use rove_udp::Sieve;
use rove_udp::{SendFailure, ServerSocket, receive_waiting};
use rove_units::Instant;

/// The socket, and the address that answers leave from.
pub(super) struct Wire {
    socket: ServerSocket,
    /// How another server asks for the port while this one lingers; closed after the socket.
    pub(super) handover: Option<Handover>,
    /// The name of that, for a session that others may find.
    name: Option<SessionName>,
    sieve: Sieve,
    /// The address of this computer that the client has spoken to, where the system tells.
    local: Option<Ipv6Addr>,
}

impl Wire {
    /// Creates the wire of a session that nobody has spoken to.
    pub(super) fn new(socket: ServerSocket, name: Option<SessionName>) -> Self {
        Self { socket, handover: None, name, sieve: Sieve::default(), local: None }
    }

    /// Hands the datagrams that wait to the session.
    pub(super) fn receive(&mut self, now: Instant, session: &mut Server) {
        let Self { socket, sieve, local, .. } = self;
        let result = receive_waiting(socket.get(), |received, payload| {
            let (source, len) = (received.source, payload.len());
            let before = (session.takeovers(), session.client_datagrams());
            if let Err(error) = session.handle_datagram(now, source, received.ecn, payload) {
                tracing::debug!(%error, len, %source, "datagram of no use");
            }
            // A forged one may claim the client's address, in the same turn as the client speaks.
            if (session.takeovers(), session.client_datagrams()) > before {
                *local = received.local;
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
            match self.socket.send_from(&transmit, self.local) {
                Ok(()) => tracing::trace!(len = transmit.payload.len(), "datagram sent"),
                Err(SendFailure::TooLong) => {
                    session.handle_message_too_long(now, transmit.payload.len());
                }
                Err(error) => tracing::debug!(%error, "datagram not sent"),
            }
        }
    }
}

impl AsFd for Wire {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.get().as_fd()
    }
}
