//! Sprout's ends in virtual time. An end sends endless data, or none.

use core::net::SocketAddr;

use rove_congestion::sprout::endpoint::Waiting;
use rove_congestion::sprout::packet::Packet;
use rove_congestion::sprout::{Config, Endpoint, Estimator};
use rove_link::net::End;
use rove_units::{Bytes, Instant};

use crate::flow::ends::{Arrival, keep};
use crate::flow::source::FULL;
use crate::metrics::Delivery;

/// The size of the sending time, which comes before Sprout's fields in a datagram.
const STAMP: Bytes = Bytes::new(8);

/// The size of a full Sprout packet. With stamp and headers it uses up a delivery opportunity.
pub const PACKET: Bytes = Bytes::new(1_464);
const _: () = assert!(PACKET.get() + STAMP.get() == FULL.get());

/// An end of a Sprout flow.
#[derive(Debug)]
pub struct SproutEnd<E> {
    endpoint: Endpoint<E>,
    peer: SocketAddr,
    is_saturating: bool,
    now: Instant,
    sent: u64,
    arrivals: Vec<Arrival>,
}

impl<E: Estimator> SproutEnd<E> {
    /// Creates an end. If it is not saturating, it sends no data, only reports of the data that arrives.
    pub fn new(config: Config, estimator: E, peer: SocketAddr, is_saturating: bool) -> Self {
        let endpoint = Endpoint::new(config, estimator, Instant::ZERO);
        Self { endpoint, peer, is_saturating, now: Instant::ZERO, sent: 0, arrivals: Vec::new() }
    }

    /// Returns how many datagrams were sent.
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns the arrivals, in order.
    pub fn arrivals(&self) -> &[Arrival] {
        &self.arrivals
    }

    /// Returns the arrivals, in order, and forgets them.
    pub fn take_arrivals(&mut self) -> Vec<Arrival> {
        core::mem::take(&mut self.arrivals)
    }
}

impl<E: Estimator> End for SproutEnd<E> {
    fn handle_datagram(&mut self, now: Instant, _: SocketAddr, payload: &[u8]) {
        self.now = now;
        let Some((stamp, rest)) = payload.split_first_chunk() else { return };
        let Some((packet, _)) = Packet::decode(rest) else { return };
        self.endpoint.handle_packet(now, &packet);
        let sent = Instant::from_nanos(u64::from_be_bytes(*stamp));
        let delivery = Delivery { sent, arrived: now };
        keep(&mut self.arrivals, Arrival { delivery, size: Bytes::from(payload.len()) });
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.now = now;
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        self.now = now;
        let waiting =
            if self.is_saturating { Waiting::Stream(Bytes::MAX) } else { Waiting::Nothing };
        let packet = self.endpoint.poll_send(now, waiting)?;
        let size = usize::try_from((STAMP + packet.len()).get()).unwrap_or_default();
        let mut payload = Vec::with_capacity(size);
        payload.extend(now.as_nanos().to_be_bytes());
        packet.encode(&mut payload);
        payload.resize(size, 0);
        self.sent += 1;
        Some((self.peer, payload))
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.endpoint.poll_timeout(self.now, self.is_saturating)
    }
}
