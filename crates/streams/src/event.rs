//! Events for the owner of the stream layer.

use std::collections::BTreeSet;

use crate::id::StreamId;

/// An event of a stream, or of the whole layer. The event may be out of date when the owner polls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// The stream layer has closed; [`Mux::closed`](crate::Mux::closed) tells why.
    Closed,
    /// The peer has opened a stream: call [`Mux::accept`](crate::Mux::accept) until it returns `None`.
    Incoming,
    /// The stream has something to read: bytes, the end or a reset.
    Readable(StreamId),
    /// The stream has room again, after [`Mux::room`](crate::Mux::room) was 0 or a write accepted only a part.
    Writable(StreamId),
    /// The peer has acknowledged everything that was written, and the end.
    Finished(StreamId),
    /// The peer has stopped reading, and the layer has reset the sending direction.
    Stopped(StreamId),
}

/// The events that wait for the owner, each at most once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events(BTreeSet<Event>);

impl Events {
    pub(crate) fn push(&mut self, event: Event) {
        self.0.insert(event);
    }

    pub(crate) fn pop(&mut self) -> Option<Event> {
        self.0.pop_first()
    }

    /// Drops [`Event::Readable`] and [`Event::Writable`] of a stream that has been removed.
    pub(crate) fn forget(&mut self, id: StreamId) {
        self.0.remove(&Event::Readable(id));
        self.0.remove(&Event::Writable(id));
    }
}
