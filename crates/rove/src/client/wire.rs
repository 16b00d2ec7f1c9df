//! By what a client's datagrams travel: UDP sockets, or a tunnel through ssh.

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;

use rove_bootstrap::tunnel::carrier::Arrival;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_session::Client;
use rove_ssp::{Ecn, Transmit};
use rove_udp::DualStackSockets;
use rove_udp::{Refusal, SendFailure, receive_while, send};
use rove_units::Instant;

use crate::client::turn::Turn;
use crate::messages::reason;
use crate::tunnel::near::Tunnel;

/// The message to the user where the host refuses a tunnel's datagrams.
const NOBODY_THERE: &str = "The session's server has ended: the host refuses what comes through.";

/// By what datagrams travel.
#[derive(Debug)]
pub(super) enum Wire {
    /// UDP.
    Sockets(DualStackSockets),
    /// ssh.
    Tunnel {
        /// The ssh that carries the datagrams.
        tunnel: Box<Tunnel>,
        /// Arrivals of the last read that a turn has not handled yet.
        arrivals: VecDeque<Arrival>,
    },
}

impl Wire {
    /// Creates a wire that is a tunnel.
    pub(super) fn tunnelled(tunnel: Tunnel) -> Self {
        Self::Tunnel { tunnel: Box::new(tunnel), arrivals: VecDeque::new() }
    }

    /// Returns whether something has come that the session has not been given.
    pub(super) fn has_arrivals(&self) -> bool {
        matches!(self, Self::Tunnel { arrivals, .. } if !arrivals.is_empty())
    }

    /// Returns what to wait for.
    pub(super) fn interests(&mut self) -> Vec<Interest<'_>> {
        match self {
            Self::Sockets(sockets) => {
                sockets.iter().map(|socket| Interest::new(socket.as_fd(), true, false)).collect()
            }
            Self::Tunnel { tunnel, .. } => tunnel.interests(),
        }
    }

    /// Returns when there is something to do though nothing has come.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        match self {
            Self::Sockets(_) => None,
            Self::Tunnel { tunnel, .. } => tunnel.poll_timeout(),
        }
    }

    /// Hands what has come to the session, as much as a turn may; `waiting` says of each interest whether something
    /// waits.
    /// Returns what the network has said, if it has.
    pub(super) fn receive(
        &mut self,
        now: Instant,
        waiting: &[bool],
        session: &mut Client,
    ) -> Option<Refusal> {
        let mut refusal = None;
        let turn = Turn::begin(session);
        match self {
            Self::Sockets(sockets) => {
                for (socket, _) in sockets.iter().zip(waiting).filter(|(_, waits)| **waits) {
                    if !turn.has_room(session) {
                        break;
                    }
                    let result = receive_while(socket, |received, payload| {
                        let (source, len) = (received.source, payload.len());
                        let result = session.handle_datagram(now, source, received.ecn, payload);
                        if let Err(error) = result {
                            tracing::debug!(%error, len, %source, "datagram of no use");
                        }
                        turn.has_room(session)
                    });
                    if let Err(error) = result {
                        tracing::debug!(%error, "receive failed");
                        let found = Refusal::of(&error);
                        if found == Refusal::Port && !session.candidates().is_probing() {
                            session.handle_refusal(now);
                        }
                        refusal = Some(found);
                        // It may be about a probe, of which nobody wants to hear.
                        if !session.candidates().is_probing() {
                            let server = session.server();
                            session.candidates_mut().handle_unreachable(server);
                            session.handle_network_error(now, &reason(&error.to_string()));
                        }
                    }
                }
            }
            Self::Tunnel { tunnel, arrivals } => {
                let server = session.server();
                if arrivals.is_empty() {
                    tunnel.turn(now, |arrival| arrivals.push_back(arrival));
                }
                while turn.has_room(session)
                    && let Some(arrival) = arrivals.pop_front()
                {
                    match arrival {
                        Arrival::Datagram(payload) => {
                            let result =
                                session.handle_datagram(now, server, Ecn::NotCapable, &payload);
                            if let Err(error) = result {
                                tracing::debug!(%error, len = payload.len(), "datagram of no use");
                            }
                        }
                        Arrival::Refused => {
                            refusal = Some(Refusal::Port);
                            session.handle_refusal(now);
                            session.handle_network_error(now, NOBODY_THERE);
                        }
                    }
                }
                session.handle_tunnel(now, tunnel.trouble());
            }
        }
        refusal
    }

    /// Sends a datagram.
    ///
    /// # Errors
    ///
    /// Returns [`SendFailure`] when the system refuses it; a tunnel refuses none.
    pub(super) fn send(&mut self, transmit: &Transmit) -> Result<(), SendFailure> {
        match self {
            Self::Sockets(sockets) => {
                let socket = sockets.newest_for(transmit.destination);
                send(socket.map_err(SendFailure::Other)?, transmit)
            }
            Self::Tunnel { tunnel, .. } => {
                tunnel.send(&transmit.payload);
                Ok(())
            }
        }
    }

    /// Records that the network of this computer has changed, on which a tunnel may have failed.
    pub(super) fn handle_network_change(&mut self, now: Instant) {
        if let Self::Tunnel { tunnel, .. } = self {
            tunnel.handle_network_change(now);
        }
    }

    /// Opens new ports; in a tunnel there is no need.
    pub(super) fn open_port(&mut self) -> io::Result<()> {
        match self {
            Self::Sockets(sockets) => sockets.open_port(),
            Self::Tunnel { .. } => Ok(()),
        }
    }

    /// Closes the oldest ports down to `keep`.
    pub(super) fn close_ports(&mut self, keep: usize) {
        if let Self::Sockets(sockets) = self {
            sockets.close_ports(keep);
        }
    }

    /// Returns the port that datagrams to this address leave from, where there is one.
    pub(super) fn local_port(&self, server: SocketAddr) -> Option<u16> {
        match self {
            Self::Sockets(sockets) => sockets.local_port(server),
            Self::Tunnel { .. } => None,
        }
    }

    /// Lets the user log in again for the tunnel, on the terminal that is theirs meanwhile. Returns the signals that
    /// came meanwhile.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal to wait.
    pub(super) fn log_in(&mut self, events: &mut EventLoop) -> io::Result<Vec<i32>> {
        match self {
            Self::Sockets(_) => Ok(Vec::new()),
            Self::Tunnel { tunnel, .. } => tunnel.log_in(events),
        }
    }

    /// Returns the tunnel, where there is one.
    pub(super) fn tunnel(&self) -> Option<&Tunnel> {
        match self {
            Self::Sockets(_) => None,
            Self::Tunnel { tunnel, .. } => Some(tunnel),
        }
    }
}
