//! Events of streams, for their owner.

use std::collections::BTreeSet;

use crate::id::StreamId;

/// An event of a stream, or of all. An event may be out of date when it is polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// The layer has closed; [`Mux::closed`](crate::Mux::closed) tells why.
    Closed,
    /// The peer has opened a stream: call [`Mux::accept`](crate::Mux::accept) until it returns `None`.
    Incoming,
    /// There is something to read: bytes, the end or a reset.
    Readable(StreamId),
    /// There is room again for a write that did not take everything.
    Writable(StreamId),
    /// The peer has everything that was written, and the end.
    Finished(StreamId),
    /// The peer reads no longer. The layer has reset this end's direction.
    Stopped(StreamId),
}

/// The events that wait for their owner, each once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events(BTreeSet<Event>);

impl Events {
    pub(crate) fn push(&mut self, event: Event) {
        self.0.insert(event);
    }

    pub(crate) fn pop(&mut self) -> Option<Event> {
        self.0.pop_first()
    }

    /// Drops the events of a stream that is no longer there to be read or written.
    pub(crate) fn forget(&mut self, id: StreamId) {
        self.0.remove(&Event::Readable(id));
        self.0.remove(&Event::Writable(id));
    }
}
