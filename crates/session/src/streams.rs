//! Streams beside a session: moves the packets of the crate `rove-streams` through the session's transport.

use core::net::SocketAddr;

use rove_congestion::Controller;
use rove_ssp::{Carriage, Transmit};
use rove_streams::{Mux, PacketNum, Side};
use rove_units::Instant;

use crate::stream_controller::StreamController;

/// The streams of one end. A session has new streams for each client, because a new key restarts the packet numbers.
///
/// The driver sends all datagrams of the session, then those of [`Streams::poll_transmit`]. It calls
/// [`Streams::handle_arrivals`] after datagrams have arrived.
#[derive(Debug)]
pub struct Streams {
    /// The multiplexer, at which the driver opens, reads and writes streams.
    pub mux: Mux,
    heard_at: Option<Instant>,
    /// At the last check, how often the path had changed, and the address of the peer. `None` before a check.
    path: Option<(u64, Option<SocketAddr>)>,
}

impl Streams {
    /// Creates streams with the default controller, which gives typed keys priority.
    pub fn new(side: Side, now: Instant) -> Self {
        Self::controlled(side, StreamController::default().start(), now)
    }

    /// Creates streams with a congestion controller.
    pub fn controlled(side: Side, controller: Box<dyn Controller>, now: Instant) -> Self {
        Self { mux: Mux::new(side, controller, 0, now), heard_at: None, path: None }
    }

    /// Gives the multiplexer the packets that have arrived. Any datagram of the peer counts as a sign of life.
    pub fn handle_arrivals(&mut self, now: Instant, mut carriage: Carriage<'_>) {
        self.look_at_session(now, &mut carriage);
        if carriage.heard_at() != self.heard_at {
            self.heard_at = carriage.heard_at();
            self.mux.handle_heard(now);
        }
        while let Some(packet) = carriage.poll_packet() {
            let number = PacketNum::new(packet.number);
            let handled = number.map(|it| self.mux.handle_packet(now, it, &packet.payload));
            // After an error of the peer the multiplexer is closed, and the session goes on.
            if let Some(Err(error)) = handled {
                tracing::debug!(%error, number = packet.number, "packet of no use");
            }
        }
    }

    /// Returns the next packet as a datagram. `None` if no packet is due, or if it cannot be sealed and thus is lost.
    pub fn poll_transmit(&mut self, now: Instant, mut carriage: Carriage<'_>) -> Option<Transmit> {
        self.look_at_session(now, &mut carriage);
        let packet = self.mux.poll_transmit(now)?;
        carriage.seal(packet.number.get(), &packet.payload)
    }

    fn look_at_session(&mut self, now: Instant, carriage: &mut Carriage<'_>) {
        if let Some(len) = self.mux.poll_black_hole() {
            carriage.handle_black_hole(now, len);
        }
        self.mux.handle_packet_size(carriage.payload_max());
        let (changes, peer) = carriage.path();
        if let Some((_, at)) = self.path.replace((changes, peer)).filter(|it| it.0 != changes) {
            self.mux.handle_path_change(now, at != peer);
        }
        if let Some(at) = carriage.typed_at() {
            self.mux.handle_key(at);
        }
    }

    /// Returns when to call [`Streams::poll_transmit`] unless something happens before. `None` for idle streams.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.mux.poll_timeout()
    }
}
