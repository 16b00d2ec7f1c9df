//! The open streams, and the rules by which an end opens them.

use std::collections::{BTreeMap, VecDeque};

use rove_units::{Duration, Instant};

use crate::error::{StreamError, Violation};
use crate::id::{Side, StreamId};
use crate::stream::Stream;

/// Maximum number of open streams, without the control stream. Source: the wire contract, docs/wire.md.
pub const STREAMS_MAX: usize = 256;

/// Maximum number of refusals of streams that the peer has not acknowledged. Chosen: as many as a peer may have open.
const REFUSALS_MAX: usize = 256;

/// Maximum number of streams that a server may open in a second. Source: the wire contract, docs/wire.md.
const SERVER_OPENS_MAX: u32 = 100;

/// The streams of one end.
#[derive(Debug)]
pub(crate) struct Table {
    side: Side,
    streams: BTreeMap<StreamId, Stream>,
    next_own: StreamId,
    next_peers: StreamId,
    /// Streams of the peer that the owner has not accepted.
    incoming: VecDeque<StreamId>,
    /// The peer's streams for which there was no room, and whether the refusal has to be sent.
    refused: BTreeMap<StreamId, bool>,
    /// When the present second began, and how many streams the peer has opened within it.
    opens: (Instant, u32),
}

impl Table {
    pub(crate) fn new(side: Side, now: Instant) -> Self {
        let peer = if side == Side::Client { Side::Server } else { Side::Client };
        Self {
            side,
            streams: BTreeMap::from([(StreamId::CONTROL, Stream::new(now))]),
            next_own: StreamId::first_of(side),
            next_peers: StreamId::first_of(peer),
            incoming: VecDeque::new(),
            refused: BTreeMap::new(),
            opens: (now, 0),
        }
    }

    pub(crate) fn open(&mut self, now: Instant) -> Result<StreamId, StreamError> {
        if self.is_full() {
            return Err(StreamError::TooMany);
        }
        let id = self.next_own;
        self.next_own = id.next();
        self.streams.insert(id, Stream::new(now));
        Ok(id)
    }

    /// Returns the next stream that the peer has opened. `None` if all were returned.
    pub(crate) fn accept(&mut self) -> Option<StreamId> {
        self.incoming.pop_front()
    }

    pub(crate) fn stream(&self, id: StreamId) -> Option<&Stream> {
        self.streams.get(&id)
    }

    pub(crate) fn stream_mut(&mut self, id: StreamId) -> Option<&mut Stream> {
        self.streams.get_mut(&id)
    }

    /// Returns how many streams are open, without the control stream.
    pub(crate) fn len(&self) -> usize {
        self.streams.len() - 1
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Stream> {
        self.streams.values()
    }

    /// Called when a frame for a stream has arrived. A new number of the peer opens its stream, and all of the peer's
    /// streams with lower numbers. Returns whether this opened a stream that was not refused.
    pub(crate) fn heed(&mut self, now: Instant, id: StreamId) -> Result<bool, Violation> {
        if id == StreamId::CONTROL {
            return Ok(false);
        }
        if id.opener() == self.side {
            return if id < self.next_own { Ok(false) } else { Err(Violation::NotOpened) };
        }
        // A correct peer counts a stream as open until this end has acknowledged the stream's end. So its newest number
        // is less than `STREAMS_MAX` streams ahead.
        let ahead = id.get().saturating_sub(self.next_peers.get()) / 2;
        if id >= self.next_peers && ahead >= STREAMS_MAX as u64 {
            return Err(Violation::FarAhead);
        }
        let mut has_opened = false;
        while self.next_peers <= id {
            has_opened |= self.open_peers(now)?;
        }
        Ok(has_opened)
    }

    pub(crate) fn remove(&mut self, id: StreamId) -> Option<Stream> {
        debug_assert!(id != StreamId::CONTROL, "the control stream stays");
        self.streams.remove(&id)
    }

    /// Returns a stream whose refusal has to be sent, if any, and marks the refusal as sent.
    pub(crate) fn take_refusal(&mut self) -> Option<StreamId> {
        let (id, is_due) = self.refused.iter_mut().find(|(_, is_due)| **is_due)?;
        *is_due = false;
        Some(*id)
    }

    pub(crate) fn owes_refusal(&self) -> bool {
        self.refused.values().any(|is_due| *is_due)
    }

    pub(crate) fn handle_refusal(&mut self, id: StreamId, is_acked: bool) {
        if is_acked {
            self.refused.remove(&id);
        } else if let Some(is_due) = self.refused.get_mut(&id) {
            *is_due = true;
        }
    }

    fn is_full(&self) -> bool {
        debug_assert!(self.streams.len() <= STREAMS_MAX + 1);
        self.streams.len() > STREAMS_MAX
    }

    /// Opens the peer's next stream, or refuses it and returns false. Returns an error if too many refusals are
    /// unanswered.
    fn open_peers(&mut self, now: Instant) -> Result<bool, Violation> {
        let id = self.next_peers;
        self.next_peers = id.next();
        if self.is_full() || self.is_too_fast(now) {
            if self.refused.len() >= REFUSALS_MAX {
                return Err(Violation::TooManyRefused);
            }
            self.refused.insert(id, true);
            return Ok(false);
        }
        self.streams.insert(id, Stream::new(now));
        self.incoming.push_back(id);
        Ok(true)
    }

    /// Counts a new stream of the peer. Returns whether the peer is a server that opens too many in a second.
    fn is_too_fast(&mut self, now: Instant) -> bool {
        if now.saturating_since(self.opens.0) >= Duration::from_secs(1) {
            self.opens = (now, 0);
        }
        self.opens.1 = self.opens.1.saturating_add(1);
        self.side == Side::Client && self.opens.1 > SERVER_OPENS_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Instant = Instant::from_millis(5);

    #[test]
    fn a_number_opens_its_stream_and_all_between_once() {
        let mut table = Table::new(Side::Server, NOW);
        assert_eq!(table.heed(NOW, StreamId::new(6)), Ok(true));
        assert_eq!(table.heed(NOW, StreamId::new(4)), Ok(false));
        let accepted: Vec<u64> =
            core::iter::from_fn(|| table.accept()).map(StreamId::get).collect();
        assert_eq!(accepted, [2, 4, 6]);
        table.remove(StreamId::new(4));
        assert_eq!(table.heed(NOW, StreamId::new(4)), Ok(false), "a number is used once");
        assert!(table.stream(StreamId::new(4)).is_none());
        assert_eq!(table.heed(NOW, StreamId::new(1)), Err(Violation::NotOpened));
        assert_eq!(table.open(NOW), Ok(StreamId::new(1)));
        assert_eq!(table.heed(NOW, StreamId::new(1)), Ok(false));
        assert_eq!(table.heed(NOW, StreamId::new(u64::MAX - 1)), Err(Violation::FarAhead));
        assert_eq!(table.heed(NOW, StreamId::new(8 + 512)), Err(Violation::FarAhead));
        assert_eq!(table.heed(NOW, StreamId::new(8 + 510)), Ok(true));
    }

    #[test]
    fn streams_beyond_the_most_are_refused_and_too_many_of_these_are_a_fault() {
        let mut table = Table::new(Side::Server, NOW);
        (0..STREAMS_MAX).for_each(|_| assert!(table.open(NOW).is_ok()));
        assert_eq!(table.open(NOW), Err(StreamError::TooMany));
        for index in 1..=REFUSALS_MAX as u64 {
            assert_eq!(table.heed(NOW, StreamId::new(2 * index)), Ok(false));
        }
        assert_eq!(table.take_refusal(), Some(StreamId::new(2)));
        table.handle_refusal(StreamId::new(2), false);
        assert_eq!(table.take_refusal(), Some(StreamId::new(2)), "a lost one goes again");
        let next = StreamId::new(2 * REFUSALS_MAX as u64 + 2);
        table.handle_refusal(StreamId::new(2), true);
        assert_eq!(table.heed(NOW, next), Ok(false));
        assert_eq!(table.heed(NOW, next.next()), Err(Violation::TooManyRefused));
    }

    #[test]
    fn a_server_may_open_only_so_many_in_a_second() {
        let mut table = Table::new(Side::Client, NOW);
        for index in 0..=u64::from(SERVER_OPENS_MAX) {
            let has_room = index < u64::from(SERVER_OPENS_MAX);
            assert_eq!(table.heed(NOW, StreamId::new(2 * index + 1)), Ok(has_room));
        }
        let later = NOW + Duration::from_secs(1);
        assert_eq!(table.heed(later, StreamId::new(301)), Ok(true));
    }
}
