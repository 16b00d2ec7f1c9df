//! Moves a server's datagrams between the socket and the session.

use std::collections::VecDeque;
use std::iter;
use std::net::{Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

use rove_control::{Handover, SessionName};
use rove_session::{JOINED_MAX, Server};
use rove_ssp::Transmit;
use rove_udp::Sieve;
use rove_udp::{SendFailure, ServerSocket, receive_waiting, send_segments};
use rove_units::Instant;

use crate::packet_queue::PacketQueue;
use crate::server::forward::Forwards;

/// Most clients for which a server remembers the local address to which the client sends. Chosen: as many as a session
/// has, and one each for a client that is invited, leaves or takes over.
const WAYS_MAX: usize = JOINED_MAX + 3;

/// The server's UDP socket, with the local address for answers to each client.
pub(super) struct Wire {
    socket: ServerSocket,
    /// The socket at which another server can ask for the port while this server lingers. `None` at other times. The
    /// handover closes after `socket`, because fields are dropped in order.
    pub(super) handover: Option<Handover>,
    /// The name for the handover socket. `None` if the session is not listed, or the server has begun to linger.
    name: Option<SessionName>,
    sieve: Sieve,
    queue: PacketQueue,
    /// The address of each client, with the local address to which the client sends, if the system reports it. The most
    /// recently added client is the last.
    ways: VecDeque<(SocketAddr, Option<Ipv6Addr>)>,
}

impl Wire {
    /// Creates the wire of a session that has no client yet.
    pub(super) fn new(socket: ServerSocket, name: Option<SessionName>) -> Self {
        let (sieve, queue) = (Sieve::default(), PacketQueue::default());
        Self { socket, handover: None, name, sieve, queue, ways: VecDeque::new() }
    }

    /// Reads waiting datagrams, as many as a turn of the loop allows, and passes them to the session.
    pub(super) fn receive(&mut self, now: Instant, session: &mut Server) {
        let Self { socket, sieve, ways, .. } = self;
        let result = receive_waiting(socket.get(), |received, payload| {
            let (source, len) = (received.source, payload.len());
            let before = (session.takeovers(), session.client_datagrams());
            if let Err(error) = session.handle_datagram(now, source, received.ecn, payload) {
                tracing::debug!(%error, len, %source, "datagram of no use");
            }
            // Only the session can tell the client's datagrams from forged ones, which may have the client's address.
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

    /// Handles the timer of the socket's filter, which in a flood drops a part of the datagrams that others send.
    pub(super) fn handle_timeout(&mut self, now: Instant, session: &Server) {
        self.sieve.handle_timeout(now, session.client_address(), &self.socket);
    }

    /// Returns when to call [`Wire::handle_timeout`]. `None` for never.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        self.sieve.poll_timeout()
    }

    /// Sends all datagrams that the session has. When the server begins to linger, opens the handover socket first. The
    /// client may at once start another session. That session needs a port.
    pub(super) fn send(&mut self, now: Instant, session: &mut Server) {
        while let Some(transmit) = session.poll_transmit(now) {
            if session.lingers_until().is_some()
                && let Some(name) = self.name.take()
            {
                let handover = Handover::open(name)
                    .inspect_err(|error| tracing::debug!(%error, "the port is kept"));
                self.handover = handover.ok();
            }
            self.send_one(now, session, &transmit);
        }
    }

    /// Sends packets of streams while few of them wait in the kernel's send queue. Send the session's datagrams first.
    pub(super) fn send_packets(
        &mut self,
        now: Instant,
        session: &mut Server,
        forwards: &mut Forwards,
    ) {
        while forwards.are_used() {
            let room = self.queue.room(now, self.socket.get().as_fd());
            if room == 0 {
                forwards.handle_blocked(now);
            }
            let packets = iter::from_fn(|| forwards.poll_transmit(now, session));
            let packets: Vec<Transmit> = packets.take(room).collect();
            let Some(first) = packets.first() else { break };
            let local = self.local_for(first.destination);
            if !send_segments(self.socket.get(), &packets, local) {
                packets.iter().for_each(|packet| self.send_one(now, session, packet));
            }
        }
    }

    /// Returns when to send packets due at `packets_due`: later if the send queue was full. `None` if none are due.
    pub(super) fn packets_due(&self, packets_due: Option<Instant>) -> Option<Instant> {
        self.queue.poll_timeout(packets_due)
    }

    /// Returns the local address to which a client sends, if known.
    fn local_for(&self, client: SocketAddr) -> Option<Ipv6Addr> {
        let way = self.ways.iter().find(|(known, _)| *known == client);
        way.and_then(|(_, local)| *local)
    }

    fn send_one(&self, now: Instant, session: &mut Server, transmit: &Transmit) {
        match self.socket.send_from(transmit, self.local_for(transmit.destination)) {
            Ok(()) => tracing::trace!(len = transmit.payload.len(), "datagram sent"),
            Err(SendFailure::TooLong) => {
                let Transmit { destination, payload, .. } = transmit;
                session.handle_message_too_long(now, *destination, payload.len());
            }
            Err(error) => tracing::debug!(%error, "datagram not sent"),
        }
    }
}

/// Records the local address to which a client sends.
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
