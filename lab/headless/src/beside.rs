//! Streams beside a session: a layer at each end, whose packets go after the session's datagrams.

use core::net::SocketAddr;

use rove_congestion::Controller;
use rove_link::net::End;
use rove_ssp::Carriage;
use rove_streams::{Mux, PacketNum, Side};
use rove_units::Instant;

use crate::client_end::{ClientEnd, User};
use crate::server_end::{Program, ServerEnd};

/// An end of a session that may carry packets of streams.
pub trait Carries: End {
    /// The end's side of the layer.
    const SIDE: Side;

    /// Returns the way of packets. `None` unless both ends have offered streams.
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

/// The owner of an end's streams.
pub trait Owner {
    /// Lets the owner read and write. Called when streams may be used, and after each event.
    fn turn(&mut self, now: Instant, mux: &mut Mux);
}

/// An end of a session, and streams beside it.
pub struct Beside<E, O> {
    /// The session's end.
    pub end: E,
    /// The layer.
    pub mux: Mux,
    /// The owner of the streams.
    pub owner: O,
    /// How many packets were sent.
    pub packets: u64,
    is_agreed: bool,
    heard_at: Option<Instant>,
}

impl<E: Carries, O: Owner> Beside<E, O> {
    /// Puts streams beside an end, under a congestion controller.
    pub fn new(end: E, owner: O, controller: Box<dyn Controller>, now: Instant) -> Self {
        let mux = Mux::new(E::SIDE, controller, 0, now);
        Self { end, mux, owner, packets: 0, is_agreed: false, heard_at: None }
    }

    /// Returns whether both ends are known to have offered streams.
    pub const fn is_agreed(&self) -> bool {
        self.is_agreed
    }

    /// Hands the packets that have arrived to the layer.
    fn receive(&mut self, now: Instant) {
        let Some(mut carriage) = self.end.carriage() else { return };
        self.is_agreed = true;
        self.mux.handle_packet_size(carriage.payload_max());
        if carriage.heard_at() != self.heard_at {
            self.heard_at = carriage.heard_at();
            self.mux.handle_heard(now);
        }
        while let Some(packet) = carriage.poll_packet() {
            if let Some(number) = PacketNum::new(packet.number) {
                // After a fault of the peer the layer is closed, and the session goes on.
                let _ = self.mux.handle_packet(now, number, &packet.payload);
            }
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
        self.mux.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        // The session's datagrams never wait for a packet.
        if let Some(transmit) = self.end.poll_transmit(now) {
            return Some(transmit);
        }
        self.end.carriage()?;
        self.owner.turn(now, &mut self.mux);
        let packet = self.mux.poll_transmit(now)?;
        let transmit = self.end.carriage()?.seal(packet.number.get(), &packet.payload)?;
        self.packets += 1;
        Some((transmit.destination, transmit.payload))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let streams = self.mux.poll_timeout().filter(|_| self.is_agreed);
        [self.end.poll_timeout(), streams].into_iter().flatten().min()
    }
}
