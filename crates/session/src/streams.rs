//! Streams beside a session: the layer, and the way of its packets through the session.

use core::net::SocketAddr;

use rove_congestion::Controller;
use rove_ssp::{Carriage, Transmit};
use rove_streams::{Mux, PacketNum, Side};
use rove_units::Instant;

use crate::stream_controller::StreamController;

/// An end's streams. A session has new ones for each client, whose key numbers packets from 0.
///
/// The driver sends all datagrams of the session, then those of [`Streams::poll_transmit`]. It calls
/// [`Streams::handle_arrivals`] after datagrams have arrived.
#[derive(Debug)]
pub struct Streams {
    /// The layer, in which the driver opens, reads and writes streams.
    pub mux: Mux,
    heard_at: Option<Instant>,
    /// How often the path had changed when that was last looked at, and where the peer was. `None` before.
    path: Option<(u64, Option<SocketAddr>)>,
}

impl Streams {
    /// Creates streams that yield to keys, by the default controller.
    pub fn new(side: Side, now: Instant) -> Self {
        Self::controlled(side, StreamController::default().start(), now)
    }

    /// Creates streams with a congestion controller.
    pub fn controlled(side: Side, controller: Box<dyn Controller>, now: Instant) -> Self {
        Self { mux: Mux::new(side, controller, 0, now), heard_at: None, path: None }
    }

    /// Hands the packets that have arrived to the layer. Any datagram of the peer ends a silence.
    pub fn handle_arrivals(&mut self, now: Instant, mut carriage: Carriage<'_>) {
        self.look_at_path(now, &carriage);
        self.mux.handle_packet_size(carriage.payload_max());
        if carriage.heard_at() != self.heard_at {
            self.heard_at = carriage.heard_at();
            self.mux.handle_heard(now);
        }
        while let Some(packet) = carriage.poll_packet() {
            let number = PacketNum::new(packet.number);
            let handled = number.map(|it| self.mux.handle_packet(now, it, &packet.payload));
            // After a fault of the peer the layer is closed, and the session goes on.
            if let Some(Err(error)) = handled {
                tracing::debug!(%error, number = packet.number, "packet of no use");
            }
        }
    }

    /// Returns the next packet as a datagram. A packet that cannot be sealed counts as lost.
    pub fn poll_transmit(&mut self, now: Instant, mut carriage: Carriage<'_>) -> Option<Transmit> {
        self.look_at_path(now, &carriage);
        let packet = self.mux.poll_transmit(now)?;
        carriage.seal(packet.number.get(), &packet.payload)
    }

    fn look_at_path(&mut self, now: Instant, carriage: &Carriage<'_>) {
        let (changes, peer) = carriage.path();
        if let Some((_, at)) = self.path.replace((changes, peer)).filter(|it| it.0 != changes) {
            self.mux.handle_path_change(now, at != peer);
        }
    }

    /// Returns when to call [`Streams::poll_transmit`] unless something happens before. `None` for idle streams.
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.mux.poll_timeout()
    }
}
