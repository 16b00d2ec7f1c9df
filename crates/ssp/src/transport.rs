//! One end of a session: sender, receiver and connection put together.

use core::marker::PhantomData;
use core::net::SocketAddr;

use rove_units::{Duration, Instant, Stream};

use crate::config::Config;
use crate::datagram::Ecn;
use crate::error::ReceiveError;
use crate::hello::{Capabilities, Peer};
use crate::key::Key;
use crate::num::StateNum;
use crate::object::Object;

/// Which end this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends to a fixed address, may hop to new local ports.
    Client {
        /// Where the server listens.
        server: SocketAddr,
    },
    /// Answers to wherever the newest authentic datagram came from.
    Server {
        /// Whether the bound socket is IPv6 (a dual-stack socket is): decides the datagram size.
        ipv6: bool,
    },
}

/// A datagram to be sent now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Where to.
    pub destination: SocketAddr,
    /// The UDP payload.
    pub payload: Vec<u8>,
}

/// Something the driver must do or may show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Client: open a new local UDP port of the same family and send from it from now on.
    OpenPort,
    /// Client: close the oldest local ports down to this many, the newest stay.
    ClosePorts {
        /// How many stay open.
        keep: usize,
    },
    /// Server: the client's address is new or has changed.
    PeerMoved(SocketAddr),
    /// Server: nothing heard for the association timeout; nothing is sent until the client is back.
    PeerLost,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// Our shutdown was acknowledged.
    Acknowledged,
    /// The peer announced its end and we have acknowledged it.
    ByPeer,
    /// Our shutdown was never acknowledged; we gave up.
    Unacknowledged,
    /// The key has sealed all it may (2^47 blocks); nothing more can be sent.
    KeyExhausted,
}

/// One end of a session.
///
/// `Local` is the object this end owns, `Remote` its copy of the peer's.
pub struct Transport<Local: Object, Remote: Object> {
    _stub: PhantomData<(Local, Remote)>,
}

impl<Local: Object, Remote: Object> Transport<Local, Remote> {
    /// Creates an end in its initial state. `local` and `remote` are the states numbered 0;
    /// `chaff` is the caller's randomness for padding.
    pub fn new(
        role: Role,
        key: &Key,
        config: Config,
        local: Local,
        remote: Remote,
        chaff: Stream,
        now: Instant,
    ) -> Self {
        let _ = (role, key, config, local, remote, chaff, now);
        todo!()
    }

    /// Takes a datagram from the network. Sets [`Transport::remote_num`] forward when it brings a
    /// newer state.
    ///
    /// # Errors
    ///
    /// Returns why the datagram was of no use. The session goes on whatever arrives.
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        source: SocketAddr,
        ecn: Ecn,
        payload: &[u8],
    ) -> Result<(), ReceiveError> {
        let _ = (now, source, ecn, payload);
        todo!()
    }

    /// Does what is due. Calling early or late is harmless.
    pub fn handle_timeout(&mut self, now: Instant) {
        let _ = now;
        todo!()
    }

    /// Falls back to small datagrams after a send failed for its size (EMSGSIZE).
    pub fn handle_message_too_long(&mut self) {
        todo!()
    }

    /// Returns the next datagram to send, or `None`. Drain it, then wait for
    /// [`Transport::poll_timeout`].
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Transmit> {
        let _ = now;
        todo!()
    }

    /// Returns when to call [`Transport::handle_timeout`] (and drain again) if nothing happens before.
    pub fn poll_timeout(&self) -> Option<Instant> {
        todo!()
    }

    /// Returns the next event, or `None`.
    pub fn poll_event(&mut self) -> Option<Event> {
        todo!()
    }

    /// Returns our current object.
    pub fn local(&self) -> &Local {
        todo!()
    }

    /// Makes `object` our current state; sent when the timers say so. Ignored once shutting down.
    pub fn publish(&mut self, object: Local) {
        let _ = object;
        todo!()
    }

    /// Returns the newest of our states that the peer is known to hold.
    pub fn known_receiver_state(&self) -> &Local {
        todo!()
    }

    /// Returns when the known receiver state was last sent; `None` before the first acknowledgment.
    pub fn known_state_sent_at(&self) -> Option<Instant> {
        todo!()
    }

    /// Returns the number of our newest sent state.
    pub fn sent_num(&self) -> StateNum {
        todo!()
    }

    /// Returns the newest state of the peer's object.
    pub fn remote(&self) -> &Remote {
        todo!()
    }

    /// Returns the number of the newest state of the peer's object; 0 until one has arrived.
    pub fn remote_num(&self) -> StateNum {
        todo!()
    }

    /// Returns when the newest remote state arrived; `None` before the first.
    pub fn remote_arrived_at(&self) -> Option<Instant> {
        todo!()
    }

    /// While held, states with contents are left unreceived and unacknowledged, so the peer keeps
    /// them and sends them again; acknowledgments are still read. For a receiver whose consumer
    /// is stuck.
    pub fn hold_remote(&mut self, held: bool) {
        let _ = held;
        todo!()
    }

    /// Starts the orderly end. Later calls do nothing.
    pub fn start_shutdown(&mut self, now: Instant) {
        let _ = now;
        todo!()
    }

    /// Returns whether [`Transport::start_shutdown`] was called.
    pub fn is_shutting_down(&self) -> bool {
        todo!()
    }

    /// Returns whether the peer has announced its end.
    pub fn is_peer_shutting_down(&self) -> bool {
        todo!()
    }

    /// Returns how the session ended, once it has. Drain [`Transport::poll_transmit`] first.
    pub fn closed(&self) -> Option<Closed> {
        todo!()
    }

    /// Returns what is known of the far end.
    pub fn peer(&self) -> Peer {
        todo!()
    }

    /// Returns what may be used between the two ends: what both have offered.
    pub fn capabilities(&self) -> Capabilities {
        todo!()
    }

    /// Returns the peer's address: fixed at a client, the newest authentic one at a server.
    pub fn peer_address(&self) -> Option<SocketAddr> {
        todo!()
    }

    /// Returns the smoothed round-trip time; `None` before the first sample.
    pub fn srtt(&self) -> Option<Duration> {
        todo!()
    }

    /// Returns the interval between frames (also send interval): half of SRTT, within its bounds.
    pub fn frame_interval(&self) -> Duration {
        todo!()
    }
}
