//! The facts that another process needs to go on with a session, written before they are relied on.
//!
//! A rove server gives the next client a key of its own, and tells it what it has taken; so its client's record holds keys alone
//! ([`TypedKeys`]). A stock server's client needs more ([`StockFacts`]), and its record starts once the server is known to be
//! one.
//!
//! Input that may be a secret is sent without being written. Until the server has acknowledged it, the record says that
//! input is missing.

use rove_ssp::Peer;

use super::record::Record;
use super::stock_facts::StockFacts;
use super::typed::{NextKeys, TypedKeys};
use super::uplink::ClientTransport;

/// The record of a client, and the client's transport.
pub struct Recording<'a> {
    pub(super) recorder: &'a mut Recorder,
    pub(super) transport: &'a mut ClientTransport,
}

impl Recording<'_> {
    /// Keeps a record from now on.
    pub fn start(&mut self) {
        *self.recorder = Recorder { is_on: true, ..Recorder::default() };
    }

    /// Keeps a record from now on with a server that is known to be a rove, after a former client with these keys.
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

    /// Returns whether the server is a rove; `None` until that is known.
    pub fn is_with_rove(&self) -> Option<bool> {
        match self.transport.peer() {
            Peer::Unknown => None,
            Peer::Stock => Some(false),
            Peer::Rove(_) => Some(true),
        }
    }

    /// Returns the record to write now, if one is due. Once it is written, call [`Recording::handle_written`], or else
    /// [`Recording::stop`]. Nothing is sent before.
    pub fn poll(&mut self) -> Option<Record> {
        if self.recorder.is_on && self.transport.is_peer_shutting_down() {
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

    /// Notes that the last record is written.
    pub fn handle_written(&mut self) {
        if self.recorder.is_with_rove(self.transport) {
            return;
        }
        self.transport.reserve(Some(self.recorder.stock.handle_written()));
    }
}

/// The record of a client, as it is kept for a server of either kind.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    is_on: bool,
    /// Whether the server is a rove, though it has said nothing yet.
    is_rove: bool,
    /// The record with a rove server, until the server turns out to be none.
    typed: TypedKeys,
    /// The record with a stock server.
    stock: StockFacts,
}

impl Recorder {
    /// Notes keys that were sent. If any on their way may be a secret, the input up to now stays out of the record.
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

    /// Follows the server's acknowledgments.
    pub(super) fn handle_acknowledged(&mut self, transport: &ClientTransport) {
        self.typed.acknowledge(transport.known_receiver_state().end());
    }

    fn is_with_rove(&self, transport: &ClientTransport) -> bool {
        self.is_rove || matches!(transport.peer(), Peer::Rove(_))
    }

    /// Returns whether something is to be written before the next datagram.
    pub(super) fn is_owed(&self, transport: &ClientTransport) -> bool {
        if self.is_on && self.is_with_rove(transport) {
            return self.typed.is_owed();
        }
        self.is_on && transport.peer() == Peer::Stock && self.stock.is_owed(transport)
    }
}
