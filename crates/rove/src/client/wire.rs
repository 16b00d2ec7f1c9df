//! Sends and receives a client's datagrams, over UDP sockets with ssh as a possible second path, or over ssh alone.

use core::iter;
use std::collections::VecDeque;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;

use rove_bootstrap::tunnel::carrier::Arrival;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_platform::network_watch::NetworkWatch;
use rove_session::{Client, Streams, Turn};
use rove_ssp::{Ecn, ReceiveError, SIDE_PATH, Transmit};
use rove_udp::DualStackSockets;
use rove_udp::{Inbox, Received, Refusal, SendFailure, send, send_segments};
use rove_units::Instant;

use crate::messages::reason;
use crate::packet_queue::PacketQueue;
use crate::tunnel::jump::Line;
use crate::tunnel::near::Tunnel;
use crate::tunnel::spare::Spare;

/// The message to the user if `rove tunnel` on the host reports that the server's port is closed. With the program's
/// name and the hint how to quit, it fits into 80 columns.
const NOBODY_THERE: &str = "The session's server has ended: its port is refused.";
const _: () = assert!("rove: ".len() + NOBODY_THERE.len() + " [To quit: Ctrl-^ .]".len() <= 80);

/// The path of a client's datagrams.
#[derive(Debug)]
pub(crate) enum Wire {
    /// UDP carries the datagrams. An ssh may carry them as a second path.
    Sockets {
        sockets: DualStackSockets,
        inbox: Inbox,
        /// The ssh that carries datagrams while the server does not answer by UDP. `None` if no ssh may be used.
        spare: Option<Box<Spare>>,
        /// A forwarder on a jump host. Datagrams to it are also sealed with its key. Only `rove doctor` sets this.
        line: Option<Box<Line>>,
        /// Datagrams and messages read from ssh that the session has not yet received.
        arrivals: VecDeque<Arrival>,
    },
    /// Only ssh carries the datagrams, as a tunnel.
    Tunnel {
        tunnel: Box<Tunnel>,
        /// Datagrams and messages read from ssh that the session has not yet received.
        arrivals: VecDeque<Arrival>,
    },
}

impl Wire {
    pub(crate) fn tunnelled(tunnel: Tunnel) -> Self {
        Self::Tunnel { tunnel: Box::new(tunnel), arrivals: VecDeque::new() }
    }

    /// Creates a path over UDP sockets, with an optional ssh as a second path.
    pub(crate) fn sockets(sockets: DualStackSockets, spare: Option<Spare>) -> Self {
        let spare = spare.map(Box::new);
        let (inbox, arrivals) = (Inbox::default(), VecDeque::new());
        Self::Sockets { sockets, inbox, spare, line: None, arrivals }
    }

    /// Also seals datagrams to this forwarder (on a jump host) with its key from now on. Does nothing in a tunnel.
    pub(crate) fn wrap_for(&mut self, forwarder: Line) {
        if let Self::Sockets { line, .. } = self {
            *line = Some(Box::new(forwarder));
        }
    }

    /// Returns whether received datagrams or messages of ssh wait to be passed to the session.
    pub(crate) fn has_arrivals(&self) -> bool {
        match self {
            Self::Sockets { arrivals, inbox, .. } => !arrivals.is_empty() || !inbox.is_empty(),
            Self::Tunnel { arrivals, .. } => !arrivals.is_empty(),
        }
    }

    /// Returns whether datagrams may go to an ssh through a pipe. After ssh's end, a write to the pipe raises SIGPIPE.
    pub(crate) const fn has_pipe(&self) -> bool {
        matches!(self, Self::Tunnel { .. } | Self::Sockets { spare: Some(_), .. })
    }

    /// Returns the descriptors to wait for, the sockets first.
    pub(crate) fn interests(&mut self) -> Vec<Interest<'_>> {
        match self {
            Self::Sockets { sockets, spare, .. } => {
                let sockets = sockets.iter();
                let sockets = sockets.map(|socket| Interest::new(socket.as_fd(), true, false));
                sockets.chain(spare.iter_mut().flat_map(|spare| spare.interests())).collect()
            }
            Self::Tunnel { tunnel, .. } => tunnel.interests(),
        }
    }

    /// Returns the time by which to call [`Wire::receive`] again. `None` without a deadline.
    pub(crate) fn poll_timeout(&self, session: &Client) -> Option<Instant> {
        match self {
            Self::Sockets { spare, .. } => spare.as_ref()?.poll_timeout(session),
            Self::Tunnel { tunnel, .. } => tunnel.poll_timeout(),
        }
    }

    /// Reads datagrams and passes them to the session, within the limits of a turn of the event loop. `waiting` says
    /// which sockets are readable. Calls `note` with each UDP datagram's socket, its length and the session's result.
    /// Returns an error that a socket or ssh has reported, if any.
    pub(crate) fn receive(
        &mut self,
        now: Instant,
        waiting: &[bool],
        session: &mut Client,
        mut note: impl FnMut(&UdpSocket, usize, Result<(), ReceiveError>),
    ) -> Option<Refusal> {
        let mut refusal = None;
        let turn = Turn::begin(session);
        match self {
            Self::Sockets { sockets, inbox, spare, arrivals, .. } => {
                if let Some(spare) = spare {
                    if arrivals.is_empty() {
                        spare.turn(now, session, |arrival| arrivals.push_back(arrival));
                    }
                    refusal = hand_over(now, arrivals, SIDE_PATH, turn, session);
                }
                let mut is_heard = false;
                let mut note = |socket: &UdpSocket, len, result: Result<(), ReceiveError>| {
                    is_heard |= result.is_ok();
                    note(socket, len, result);
                };
                // The inbox holds datagrams of an earlier turn, whose socket is unknown. `note` gets the first socket.
                if !inbox.is_empty()
                    && let Some(socket) = sockets.iter().next()
                {
                    let take = handler(now, socket, turn, session, &mut note);
                    inbox.hand_over(take);
                }
                for (socket, _) in sockets.iter().zip(waiting).filter(|(_, waits)| **waits) {
                    if turn.has_room(session) && inbox.is_empty() {
                        let take = handler(now, socket, turn, session, &mut note);
                        let result = inbox.receive(socket, take);
                        refusal = result.err().map(|it| fail(now, &it, session)).or(refusal);
                    }
                }
                if is_heard {
                    sockets.probe.stop();
                }
            }
            Self::Tunnel { tunnel, arrivals } => {
                let server = session.server();
                if arrivals.is_empty() {
                    tunnel.turn(now, |arrival| arrivals.push_back(arrival));
                }
                refusal = hand_over(now, arrivals, server, turn, session);
                session.handle_tunnel(now, tunnel.trouble());
            }
        }
        refusal
    }

    /// Sends all datagrams that the session has. Calls `note` with the length of each sent datagram. Returns the last
    /// error of [`Wire::send_one`], if any.
    pub(crate) fn send(
        &mut self,
        now: Instant,
        session: &mut Client,
        mut note: impl FnMut(usize),
    ) -> Option<Refusal> {
        let mut refusal = None;
        while let Some(transmit) = session.poll_transmit(now) {
            refusal = self.send_one(now, session, &transmit, &mut note).or(refusal);
        }
        refusal
    }

    /// Sends packets of streams while few of them wait in the kernel's send queue, or none in ssh's queue. Returns the
    /// last error of [`Wire::send_one`], if any.
    pub(super) fn send_packets(
        &mut self,
        now: Instant,
        session: &mut Client,
        streams: &mut Streams,
        queue: &mut PacketQueue,
    ) -> Option<Refusal> {
        let mut refusal = None;
        loop {
            let room = self.room(now, queue, session);
            if room == 0 {
                streams.mux.handle_blocked(now);
            }
            let next = || streams.poll_transmit(now, session.carriage()?);
            let packets: Vec<Transmit> = iter::from_fn(next).take(room).collect();
            if packets.is_empty() {
                return refusal;
            }
            refusal = self.send_burst(now, session, &packets).or(refusal);
        }
    }

    /// Sends a datagram, and then calls `note` with its length. Tells the session of a failure, unless the datagram is
    /// a probe of another path. Also returns this failure as a [`Refusal`], unless the datagram was too long.
    fn send_one(
        &mut self,
        now: Instant,
        session: &mut Client,
        transmit: &Transmit,
        note: impl FnOnce(usize),
    ) -> Option<Refusal> {
        let len = transmit.payload.len();
        match self.transmit(transmit) {
            Ok(()) => {
                tracing::trace!(len, "datagram sent");
                note(len);
            }
            // This datagram probes a path that is not in use, so its failure does not concern the session.
            Err(error) if session.uses_side_path() || transmit.destination != session.server() => {
                tracing::debug!(%error, "probe not sent");
            }
            Err(SendFailure::TooLong) => session.handle_message_too_long(now, len),
            Err(SendFailure::Other(error)) => {
                tracing::debug!(%error, "datagram not sent");
                session.candidates_mut().handle_unreachable(transmit.destination);
                session.handle_network_error(now, &reason(&error.to_string()));
                return Some(Refusal::of(&error));
            }
        }
        None
    }

    /// Sends packets of streams, in one system call if possible. Returns the last error of [`Wire::send_one`], if any.
    fn send_burst(
        &mut self,
        now: Instant,
        session: &mut Client,
        packets: &[Transmit],
    ) -> Option<Refusal> {
        if let Self::Sockets { sockets, spare, line: None, .. } = self
            && !spare.as_ref().is_some_and(|spare| spare.has_forwarder())
            && !session.uses_side_path()
            && let Some(first) = packets.first()
            && let Ok(socket) = sockets.newest_for(first.destination)
            && send_segments(socket, packets, None)
        {
            sockets.probe.ask();
            return None;
        }
        let sent = packets.iter().map(|packet| self.send_one(now, session, packet, |_| ()));
        sent.fold(None, |refusal, newer| newer.or(refusal))
    }

    /// Returns how many packets of streams may be sent at once without delaying the session's datagrams, perhaps 0.
    fn room(&mut self, now: Instant, queue: &mut PacketQueue, session: &Client) -> usize {
        match self {
            Self::Sockets { spare, .. } if session.uses_side_path() => {
                queue.room_elsewhere(spare.as_ref().is_some_and(|spare| spare.has_room()))
            }
            Self::Sockets { sockets, .. } => match sockets.newest_for(session.server()) {
                Ok(socket) => queue.room(now, socket.as_fd()),
                Err(_) => queue.room_elsewhere(false),
            },
            Self::Tunnel { tunnel, .. } => queue.room_elsewhere(tunnel.has_room()),
        }
    }

    /// Sends a datagram over UDP, or queues it for ssh. Only UDP can fail.
    fn transmit(&mut self, transmit: &Transmit) -> Result<(), SendFailure> {
        match self {
            Self::Sockets { spare, .. } if transmit.destination == SIDE_PATH => {
                if let Some(spare) = spare {
                    spare.send(&transmit.payload);
                }
                Ok(())
            }
            Self::Sockets { sockets, spare, line, .. } => {
                let wrapped = spare.as_mut().and_then(|spare| spare.wrap(transmit));
                let wrapped = wrapped.or_else(|| line.as_mut()?.wrap(transmit));
                sockets.probe.ask();
                let socket = sockets.newest_for(transmit.destination);
                send(socket.map_err(SendFailure::Other)?, wrapped.as_ref().unwrap_or(transmit))
            }
            Self::Tunnel { tunnel, .. } => {
                tunnel.send(&transmit.payload);
                Ok(())
            }
        }
    }

    /// Reads `network`. After a change, tells the session, and also a tunnel, whose ssh may hang. After a failed read,
    /// sets `network` to `None`.
    pub(super) fn look_at_network(
        &mut self,
        now: Instant,
        network: &mut Option<NetworkWatch>,
        session: &mut Client,
    ) {
        match network.as_ref().map(NetworkWatch::take) {
            Some(Ok(true)) => {
                tracing::debug!("the network of this computer has changed");
                session.handle_network_change(now);
                if let Self::Tunnel { tunnel, .. } = self {
                    tunnel.handle_network_change(now);
                }
            }
            Some(Err(error)) => {
                tracing::debug!(%error, "changes of the network are told no more");
                *network = None;
            }
            Some(Ok(false)) | None => {}
        }
    }

    /// Opens a new local UDP port, which the session has asked for. Tells the session the port or the error.
    pub(super) fn renew_port(&mut self, now: Instant, session: &mut Client) {
        if let Err(error) = self.open_port(session.server()) {
            tracing::debug!(%error, "no new port");
            session.handle_network_error(now, &reason(&error.to_string()));
        }
        self.name_port(session);
    }

    /// Tells the session from which local port its datagrams leave.
    pub(super) fn name_port(&self, session: &mut Client) {
        if let Some(port) = self.local_port(session.server()) {
            session.handle_local_port(port);
        }
    }

    /// Opens a new local UDP port in each address family, because `server` is silent, or returns the system's error.
    /// Does nothing in a tunnel.
    pub(crate) fn open_port(&mut self, server: SocketAddr) -> io::Result<()> {
        match self {
            Self::Sockets { sockets, .. } => {
                sockets.probe.start(server);
                sockets.open_port()
            }
            Self::Tunnel { .. } => Ok(()),
        }
    }

    pub(crate) fn close_ports(&mut self, keep: usize) {
        if let Self::Sockets { sockets, .. } = self {
            sockets.close_ports(keep);
        }
    }

    /// Returns the local UDP port of datagrams to this address. `None` in a tunnel, or if the family has no socket.
    pub(crate) fn local_port(&self, server: SocketAddr) -> Option<u16> {
        match self {
            Self::Sockets { sockets, .. } => sockets.local_port(server),
            Self::Tunnel { .. } => None,
        }
    }

    /// Lets the user log in again on the terminal, for an ssh that will carry datagrams. The caller has restored the
    /// terminal. Returns the signals that arrived meanwhile. Without an ssh to start, returns an empty list at once.
    pub(crate) fn log_in(
        &mut self,
        events: &mut EventLoop,
        session: &mut Client,
    ) -> io::Result<Vec<i32>> {
        match self {
            Self::Sockets { spare: Some(spare), .. } => spare.log_in(events, session),
            Self::Sockets { .. } => Ok(Vec::new()),
            Self::Tunnel { tunnel, .. } => tunnel.log_in(events),
        }
    }

    pub(crate) fn tunnel(&self) -> Option<&Tunnel> {
        match self {
            Self::Sockets { .. } => None,
            Self::Tunnel { tunnel, .. } => Some(tunnel),
        }
    }
}

/// Returns a function that passes a datagram to the session, calls `note`, and returns whether the turn has room.
fn handler<'a>(
    now: Instant,
    socket: &'a UdpSocket,
    turn: Turn,
    session: &'a mut Client,
    mut note: impl FnMut(&UdpSocket, usize, Result<(), ReceiveError>) + 'a,
) -> impl FnMut(Received, &[u8]) -> bool + 'a {
    move |received, payload| {
        let (source, len) = (received.source, payload.len());
        let result = session.handle_datagram(now, source, received.ecn, payload);
        if let Err(error) = &result {
            tracing::debug!(%error, len, %source, "datagram of no use");
        }
        note(socket, len, result);
        turn.has_room(session)
    }
}

/// Tells the session of a socket's error, unless a probe may have caused it. Returns the error's kind.
fn fail(now: Instant, error: &io::Error, session: &mut Client) -> Refusal {
    tracing::debug!(%error, "receive failed");
    let found = Refusal::of(error);
    // While probes are sent, the error may belong to a probe, whose failure does not concern the session.
    if !session.candidates().is_probing() && !session.uses_side_path() {
        if found == Refusal::Port {
            session.handle_refusal(now);
        }
        let server = session.server();
        session.candidates_mut().handle_unreachable(server);
        session.handle_network_error(now, &reason(&error.to_string()));
    }
    found
}

/// Passes datagrams from ssh to the session, while the turn may handle more. `rove tunnel` on the host may report that
/// the server's port is closed. If so, tells the session and returns [`Refusal::Port`], else `None`.
fn hand_over(
    now: Instant,
    arrivals: &mut VecDeque<Arrival>,
    source: SocketAddr,
    turn: Turn,
    session: &mut Client,
) -> Option<Refusal> {
    let mut refusal = None;
    while turn.has_room(session)
        && let Some(arrival) = arrivals.pop_front()
    {
        match arrival {
            Arrival::Datagram(payload) => {
                let result = session.handle_datagram(now, source, Ecn::NotCapable, &payload);
                if let Err(error) = result {
                    tracing::debug!(%error, len = payload.len(), "datagram of no use");
                }
            }
            Arrival::Refused => {
                refusal = Some(Refusal::Port);
                session.handle_refusal(now);
                session.handle_network_error(now, NOBODY_THERE);
            }
            // [`Arrival::Words`] comes only from a forwarder on a jump host, and `tunnel/jump.rs` reads it.
            Arrival::Words(_) => {}
        }
    }
    refusal
}
