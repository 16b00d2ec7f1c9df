//! Streams beside a session: each end has a layer of streams, and sends its packets after the session's datagrams.

use core::net::SocketAddr;

use rove_congestion::Controller;
use rove_link::net::End;
use rove_session::Streams;
use rove_ssp::Carriage;
use rove_streams::{Mux, Side};
use rove_units::Instant;

use crate::client_end::{ClientEnd, User};
use crate::server_end::{Program, ServerEnd};

/// An end of a session that can carry the packets of streams.
pub trait Carries: End {
    /// The side of this end in the layer of streams.
    const SIDE: Side;

    /// Returns the session's means to send and receive packets. `None` unless both ends have offered streams.
    fn carriage(&mut self) -> Option<Carriage<'_>>;
}

impl<U: User> Carries for ClientEnd<U> {
    const SIDE: Side = Side::Client;

    fn carriage(&mut self) -> Option<Carriage<'_>> {
        self.client.carriage()
    }
}

impl<P: Program> Carries for ServerEnd<P> {
    const SIDE: Side = Side::Server;

    fn carriage(&mut self) -> Option<Carriage<'_>> {
        self.server.carriage()
    }
}

/// The owner of an end's streams, which reads and writes them.
pub trait Owner {
    /// Lets the owner read and write. Called first when both ends have agreed on streams, and then after each event.
    fn turn(&mut self, now: Instant, mux: &mut Mux);
}

/// An end of a session, with streams beside it.
pub struct Beside<E, O> {
    /// The end of the session.
    pub end: E,
    /// The streams.
    pub streams: Streams,
    /// The owner of the streams.
    pub owner: O,
    /// The number of packets of streams that this end has sent.
    pub packets: u64,
    is_agreed: bool,
}

impl<E: Carries, O: Owner> Beside<E, O> {
    /// Adds streams to an end.
    pub const fn new(end: E, owner: O, streams: Streams) -> Self {
        Self { end, streams, owner, packets: 0, is_agreed: false }
    }

    /// Adds streams to an end, with a congestion controller.
    pub fn controlled(end: E, owner: O, controller: Box<dyn Controller>) -> Self {
        Self::new(end, owner, Streams::controlled(E::SIDE, controller, Instant::ZERO))
    }

    /// Returns whether this end knows that both ends have offered streams.
    pub const fn is_agreed(&self) -> bool {
        self.is_agreed
    }

    /// Gives the layer of streams the packets that the session has received.
    fn receive(&mut self, now: Instant) {
        if let Some(carriage) = self.end.carriage() {
            self.is_agreed = true;
            self.streams.handle_arrivals(now, carriage);
        }
    }
}

impl<E: Carries, O: Owner> End for Beside<E, O> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        self.end.handle_datagram(now, source, payload);
        self.receive(now);
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.end.handle_timeout(now);
        self.streams.mux.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        // The session's datagrams come first, so that they never wait for a packet.
        if let Some(transmit) = self.end.poll_transmit(now) {
            return Some(transmit);
        }
        self.end.carriage()?;
        self.owner.turn(now, &mut self.streams.mux);
        let transmit = self.streams.poll_transmit(now, self.end.carriage()?)?;
        self.packets += 1;
        Some((transmit.destination, transmit.payload))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let streams = self.streams.poll_timeout().filter(|_| self.is_agreed);
        [self.end.poll_timeout(), streams].into_iter().flatten().min()
    }
}
