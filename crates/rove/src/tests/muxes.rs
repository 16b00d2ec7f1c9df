//! Makes both ends of a stream layer for a test, without a network between them.

use rove_session::Streams;
use rove_streams::{Mux, Side};
use rove_units::Instant;

/// Bytes of a stream packet on a new path, without the bytes that a session adds.
const PACKET_BYTES: usize = 1_176;

/// Returns an end of a stream layer, created at the time zero.
pub(crate) fn mux(side: Side) -> Mux {
    let mut mux = Streams::new(side, Instant::ZERO).mux;
    mux.handle_packet_size(PACKET_BYTES);
    mux
}

/// Returns the client's end and the server's end of a stream layer.
pub(crate) fn muxes() -> (Mux, Mux) {
    (mux(Side::Client), mux(Side::Server))
}

/// Delivers all packets that `from` may send at `now`.
pub(crate) fn deliver(now: Instant, from: &mut Mux, to: &mut Mux) {
    while let Some(packet) = from.poll_transmit(now) {
        // A closed end refuses packets.
        let _ = to.handle_packet(now, packet.number, &packet.payload);
    }
}
