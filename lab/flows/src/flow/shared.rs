//! Several flows that share a path: side by side, or through a Sprout tunnel with a queue for each.

use core::net::SocketAddr;

use rove_link::net::{End, RIGHT_ADDRESS};
use rove_ssp::Key;
use rove_units::{Bytes, Instant};

use crate::sprout::session::Session;
use crate::sprout::tunnel::Tunnel;

/// The payload of a full packet within a tunnel: a datagram of 1400 bytes less what the tunnel adds.
pub const TUNNELLED: Bytes = Bytes::new(1_292);

/// Where the packets of several ends go.
#[derive(Debug)]
enum Way {
    /// Onto the path to this address. Each packet begins with the number of its end.
    Direct(SocketAddr),
    /// Into a Sprout tunnel, each end as a flow of its own.
    Tunnel(Box<Session<Tunnel>>),
}

/// The ends of several flows at one side of a path. The ends at the other side have the same order.
#[derive(Debug)]
pub struct Shared<E> {
    /// The ends at this side, in the order of their numbers.
    pub ends: Vec<E>,
    way: Way,
}

impl<E: End> Shared<E> {
    /// Creates ends that send over a path to the address `peer`.
    pub const fn direct(ends: Vec<E>, peer: SocketAddr) -> Self {
        Self { ends, way: Way::Direct(peer) }
    }

    /// Creates ends that send through the tunnel of `session`.
    pub fn tunnelled(ends: Vec<E>, session: Session<Tunnel>) -> Self {
        Self { ends, way: Way::Tunnel(Box::new(session)) }
    }
}

impl<E: End> End for Shared<E> {
    fn handle_datagram(&mut self, now: Instant, source: SocketAddr, payload: &[u8]) {
        let Self { ends, way } = self;
        let mut deliver = |flow: u16, packet: &[u8]| {
            if let Some(end) = ends.get_mut(usize::from(flow)) {
                end.handle_datagram(now, source, packet);
            }
        };
        match way {
            Way::Direct(_) => {
                if let Some((flow, packet)) = payload.split_first_chunk() {
                    deliver(u16::from_be_bytes(*flow), packet);
                }
            }
            Way::Tunnel(session) => {
                session.handle_datagram(now, source, payload);
                while let Some((flow, packet)) = session.application.pop() {
                    deliver(flow, &packet);
                }
            }
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        for end in &mut self.ends {
            if end.poll_timeout().is_some_and(|due| due <= now) {
                end.handle_timeout(now);
            }
        }
        if let Way::Tunnel(session) = &mut self.way {
            session.handle_timeout(now);
        }
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<(SocketAddr, Vec<u8>)> {
        for (flow, end) in (0_u16..).zip(&mut self.ends) {
            while let Some((_, packet)) = end.poll_transmit(now) {
                match &mut self.way {
                    Way::Direct(peer) => {
                        return Some((*peer, [&flow.to_be_bytes()[..], &packet].concat()));
                    }
                    Way::Tunnel(session) => {
                        let deliverable = session.deliverable();
                        session.application.push(flow, packet, deliverable);
                    }
                }
            }
        }
        match &mut self.way {
            Way::Direct(_) => None,
            Way::Tunnel(session) => session.poll_transmit(now),
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let session = match &self.way {
            Way::Direct(_) => None,
            Way::Tunnel(session) => session.poll_timeout(),
        };
        self.ends.iter().map(End::poll_timeout).chain([session]).flatten().min()
    }
}

/// Connects ends at both sides by a Sprout tunnel.
pub fn tunnel<A: End, B: End>(near: Vec<A>, far: Vec<B>) -> (Shared<A>, Shared<B>) {
    // The traffic never leaves the run, so the key need not be secret.
    let key = Key::from_bytes([1; 16]);
    let left = Session::near(&key, RIGHT_ADDRESS, Tunnel::default(), Instant::ZERO);
    let right = Session::far(&key, Tunnel::default(), Instant::ZERO);
    (Shared::tunnelled(near, left), Shared::tunnelled(far, right))
}
