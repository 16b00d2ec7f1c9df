//! A virtual network: one clock, two ends, a link each way. Time jumps from event to event.

use core::net::SocketAddr;

use rove_units::{Duration, Instant, Seed};

use crate::link::LinkConfig;

/// A datagram on its way: payload and the source address its receiver will see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Whom it seems to come from.
    pub source: SocketAddr,
    /// The UDP payload.
    pub payload: Vec<u8>,
}

/// One end of the network: any sans-I/O machine.
pub trait End {
    /// Takes a datagram from the network.
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]);
    /// Does what is due.
    fn handle_timeout(&mut self, now: Instant);
    /// Returns the next datagram to send.
    fn poll_transmit(&mut self, now: Instant) -> Option<Vec<u8>>;
    /// Returns when to call [`End::handle_timeout`] next.
    fn poll_timeout(&self) -> Option<Instant>;
}

/// Two ends and the path between them, in virtual time.
#[derive(Debug)]
pub struct Net<A, B> {
    /// The end on the left, by custom the client.
    pub left: A,
    /// The end on the right, by custom the server.
    pub right: B,
}

impl<A: End, B: End> Net<A, B> {
    /// Joins two ends. `uplink` carries left to right.
    pub fn new(left: A, right: B, uplink: LinkConfig, downlink: LinkConfig, seed: Seed) -> Self {
        let _ = (uplink, downlink, seed);
        Self { left, right }
    }

    /// Returns the virtual time.
    pub fn now(&self) -> Instant {
        todo!()
    }

    /// Runs for `span` of virtual time.
    pub fn run_for(&mut self, span: Duration) {
        let _ = span;
        todo!()
    }

    /// Runs until `done` holds after some event, or until `limit` has passed; returns whether it held.
    pub fn run_until(&mut self, limit: Duration, done: impl FnMut(&A, &B) -> bool) -> bool {
        let _ = (limit, done);
        todo!()
    }

    /// Changes both directions of the path for packets that enter from now on.
    pub fn reconfigure(&mut self, uplink: LinkConfig, downlink: LinkConfig) {
        let _ = (uplink, downlink);
        todo!()
    }

    /// Gives the left end a new address as seen from the right: it has roamed.
    pub fn move_left(&mut self, address: SocketAddr) {
        let _ = address;
        todo!()
    }
}
