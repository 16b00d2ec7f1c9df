//! The record from which another process can continue a session. The driver writes facts before datagrams rely on them.
//!
//! A rove server gives the next client a new session key, and tells that client which typed keys it has taken. So the
//! record holds only typed keys ([`TypedKeys`]). With a Mosh server the record needs more ([`StockFacts`]). The record
//! starts once the client knows the kind of server.
//!
//! The client sends input that may be a secret, but leaves it out of the record. Until the server has acknowledged such
//! input, the record says that input is missing.

use rove_ssp::Peer;

use super::record::Record;
use super::stock_facts::StockFacts;
use super::typed::{NextKeys, TypedKeys};
use super::uplink::ClientTransport;

/// The driver's access to a client's record, from which another process can continue the session.
pub struct Recording<'a> {
    pub(super) recorder: &'a mut Recorder,
    pub(super) transport: &'a mut ClientTransport,
}

impl Recording<'_> {
    /// Starts to keep a record.
    pub fn start(&mut self) {
        *self.recorder = Recorder { is_on: true, ..Recorder::default() };
    }

    /// Starts to keep a record for a server that is known to be rove. The keys' positions continue from `next`.
    pub(super) fn start_after(&mut self, next: &NextKeys) {
        self.start();
        self.recorder.is_rove = true;
        self.recorder.typed = TypedKeys::begin_at(next.position);
    }

    /// Stops keeping a record, because the session is ending or the record could not be written. The session goes on.
    pub fn stop(&mut self) {
        *self.recorder = Recorder::default();
        self.transport.keep_received(false);
        self.transport.reserve(None);
    }

    /// Returns whether a record is kept.
    pub const fn is_on(&self) -> bool {
        self.recorder.is_on
    }

    /// Returns whether the server is rove; `None` until that is known.
    pub fn is_with_rove(&self) -> Option<bool> {
        match self.transport.peer() {
            Peer::Unknown => None,
            Peer::Stock => Some(false),
            Peer::Rove(_) => Some(true),
        }
    }

    /// Returns the record to write; `None` if none is due. After it has been written, call
    /// [`Recording::handle_written`]; if writing fails, call [`Recording::stop`]. Send no datagram in between.
    pub fn poll(&mut self) -> Option<Record> {
        let is_ending = self.transport.is_shutting_down() || self.transport.is_peer_shutting_down();
        if self.recorder.is_on && is_ending {
            self.stop();
        }
        let is_rove = self.recorder.is_with_rove(self.transport);
        self.recorder.is_owed(self.transport).then(|| match is_rove {
            true => self.recorder.typed.record(),
            false => {
                self.recorder.typed = TypedKeys::default();
                self.recorder.stock.record(self.transport)
            }
        })
    }

    /// Makes the next record a whole record, because the files of the earlier records are gone.
    pub const fn begin_again(&mut self) {
        (self.recorder.typed.is_begun, self.recorder.stock.is_begun) = (false, false);
    }

    /// Records that the driver has written the record that [`Recording::poll`] last returned.
    pub fn handle_written(&mut self) {
        if self.recorder.is_with_rove(self.transport) {
            return;
        }
        self.transport.reserve(Some(self.recorder.stock.handle_written()));
    }
}

/// The record of a client, in one form for a rove server and in another for a Mosh server.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    is_on: bool,
    /// Whether the server is known to be rove from the start, although it has sent nothing yet.
    is_rove: bool,
    /// The record for a rove server. It is dropped if the server turns out to be Mosh.
    typed: TypedKeys,
    /// The record for a Mosh server.
    stock: StockFacts,
}

impl Recorder {
    /// Records keys that were sent. A record for a Mosh server gets no input while a possible secret is unacknowledged.
    pub(super) fn handle_keys(
        &mut self,
        keys: &[u8],
        may_be_secret: bool,
        transport: &ClientTransport,
    ) {
        let end = transport.local().end();
        if may_be_secret {
            self.stock.conceal_to(end);
        }
        if self.is_on && transport.peer() != Peer::Stock {
            self.typed.push(keys, may_be_secret, end);
        }
    }

    pub(super) fn handle_acknowledged(&mut self, transport: &ClientTransport) {
        self.typed.acknowledge(transport.known_receiver_state().end());
    }

    fn is_with_rove(&self, transport: &ClientTransport) -> bool {
        self.is_rove || matches!(transport.peer(), Peer::Rove(_))
    }

    /// Returns whether the driver has to write a record before the next datagram.
    pub(super) fn is_owed(&self, transport: &ClientTransport) -> bool {
        if self.is_on && self.is_with_rove(transport) {
            return self.typed.is_owed();
        }
        self.is_on && transport.peer() == Peer::Stock && self.stock.is_owed(transport)
    }
}
