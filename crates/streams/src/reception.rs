//! Reads the first message of the streams that the peer opens, and refuses streams that cannot be served.

use std::collections::{BTreeMap, BTreeSet};

use rove_units::Instant;

use crate::error::{PROTOCOL, REFUSED};
use crate::id::StreamId;
use crate::mux::Mux;
use crate::preface::{Answer, BUSY, MessageReader, NOT_UNDERSTOOD, PrefaceError, Target};

/// Most streams of the peer that may wait for an answer at a time, inputs of running programs included. Source: the
/// wire contract, docs/wire.md. Chosen: a browser opens at most 32 connections to a proxy, so one browser's attempts to
/// reach silent places leave room for another's. A process may often have 1,024 descriptors. A host has 512: 4 for each
/// attempt, 1 for each of 192 other streams, and 64 for listeners. A client has 960: 4 for each of 128 attempts of `-R`
/// (64 of them by SOCKS), 3 for each of 128 calls of `rove -W`, and 64 for listeners.
pub const CONNECTS_MAX: usize = 64;

/// Number of streams of unknown kinds at which the stream layer closes. Source: the wire contract, docs/wire.md.
const STRANGE_MAX: u32 = 100;

/// The peer's streams that have not been answered.
#[derive(Debug, Default)]
pub struct Reception {
    reading: BTreeMap<StreamId, MessageReader>,
    /// The streams whose message was read, whose answer takes time, and which the owner has not answered.
    waiting: BTreeSet<StreamId>,
    /// How many streams were of an unknown kind, or not permitted at this end.
    strange: u32,
}

impl Reception {
    /// Accepts the streams that the peer has opened. Call [`Reception::handle_readable`] for each that is readable.
    pub fn handle_incoming(&mut self, mux: &mut Mux) {
        while let Some(id) = mux.accept() {
            self.reading.insert(id, MessageReader::default());
        }
    }

    /// Resets all new streams of the peer, at an end where it may open none. The 100th such stream closes the layer.
    pub fn turn_away(&mut self, now: Instant, mux: &mut Mux) {
        while let Some(id) = mux.accept() {
            self.handle_strange(now, mux, id);
        }
    }

    /// Reads a stream's message, if it has not been read. Returns the destination once it is known. The stream then
    /// waits for [`Reception::answer`]. `None` until then, and for a stream that this call refuses.
    pub fn handle_readable(&mut self, now: Instant, mux: &mut Mux, id: StreamId) -> Option<Target> {
        let read = self.reading.get_mut(&id)?.read(now, mux, id);
        let target = match read {
            Ok(None) => return None,
            Ok(Some(fields)) => Target::decode(&fields),
            Err(error) => Err(error),
        };
        self.reading.remove(&id);
        match target {
            Ok(target) if !target.takes_time() => return Some(target),
            Ok(target) if self.waiting.len() < CONNECTS_MAX => {
                self.waiting.insert(id);
                return Some(target);
            }
            Ok(_) => {
                let text = format!("more than {CONNECTS_MAX} connections at a time");
                self.answer(mux, id, &Answer::Refused { code: BUSY, text });
            }
            Err(PrefaceError::Kind(_)) => self.handle_strange(now, mux, id),
            Err(PrefaceError::Ended) => mux.reset_and_stop(id, REFUSED),
            Err(error) => {
                let text = error.to_string();
                self.answer(mux, id, &Answer::Refused { code: NOT_UNDERSTOOD, text });
            }
        }
        None
    }

    /// Sends the answer on a stream. A refusal, the exit of a program or the answer to a file ends the stream.
    pub fn answer(&mut self, mux: &mut Mux, id: StreamId, answer: &Answer) {
        self.waiting.remove(&id);
        let message = answer.encode();
        // The first message of a direction always has room, unless the peer has stopped reading.
        let written = mux.write(id, &message);
        debug_assert!(written.is_err() || written == Ok(message.len()));
        if matches!(answer, Answer::Refused { .. } | Answer::Exited(_) | Answer::Kept { .. }) {
            mux.finish_and_stop(id, REFUSED);
        }
    }

    /// Forgets a stream and ends both of its directions, for example because the peer has reset it.
    pub fn give_up(&mut self, mux: &mut Mux, id: StreamId) {
        self.reading.remove(&id);
        self.waiting.remove(&id);
        mux.reset_and_stop(id, REFUSED);
    }

    /// Resets a stream of a kind that this end does not serve. The 100th such stream closes the layer.
    pub fn handle_strange(&mut self, now: Instant, mux: &mut Mux, id: StreamId) {
        self.waiting.remove(&id);
        self.strange += 1;
        mux.reset_and_stop(id, REFUSED);
        if self.strange >= STRANGE_MAX {
            mux.close(now, PROTOCOL, "too many streams of unknown kinds");
        }
    }
}

#[cfg(test)]
mod tests {
    use rove_congestion::new_reno::NewReno;
    use rove_units::{Bytes, Duration};

    use super::*;
    use crate::error::StreamError;
    use crate::event::Event;
    use crate::id::Side;
    use crate::preface::{Listen, ListenPlace};

    const NOW: Instant = Instant::from_millis(5);

    /// Two ends between which no packet is lost.
    struct Ends {
        client: Mux,
        server: Mux,
        reception: Reception,
        now: Instant,
        /// The targets that the server has read, each with its stream.
        targets: Vec<(StreamId, Target)>,
    }

    impl Ends {
        fn new() -> Self {
            let end = |side| Mux::new(side, Box::new(NewReno::new(Bytes::new(1_176))), 1_176, NOW);
            let (client, server) = (end(Side::Client), end(Side::Server));
            let reception = Reception::default();
            Self { client, server, reception, now: NOW, targets: Vec::new() }
        }

        /// Opens a stream with this message, and lets the server read it.
        fn open(&mut self, message: &[u8]) -> StreamId {
            let id = self.client.open(NOW).unwrap();
            self.client.write(id, message).unwrap();
            self.carry();
            id
        }

        /// Delivers all packets in both directions.
        fn carry(&mut self) {
            for _ in 0..3 {
                self.now += Duration::from_millis(50);
                while let Some(packet) = self.client.poll_transmit(self.now) {
                    let _ = self.server.handle_packet(self.now, packet.number, &packet.payload);
                }
                while let Some(event) = self.server.poll_event() {
                    match event {
                        Event::Incoming => self.reception.handle_incoming(&mut self.server),
                        Event::Readable(id) => {
                            let read = self.reception.handle_readable(NOW, &mut self.server, id);
                            self.targets.extend(read.map(|target| (id, target)));
                        }
                        _ => {}
                    }
                }
                while let Some(packet) = self.server.poll_transmit(self.now) {
                    let _ = self.client.handle_packet(self.now, packet.number, &packet.payload);
                }
            }
        }

        fn answer(&mut self, id: StreamId) -> Result<Option<Answer>, PrefaceError> {
            let read = MessageReader::default().read(NOW, &mut self.client, id)?;
            read.map(|fields| Answer::decode(&fields)).transpose()
        }
    }

    fn target(port: u16) -> Target {
        Target::Tcp { host: "localhost".to_owned(), port }
    }

    fn code(answer: Result<Option<Answer>, PrefaceError>) -> Option<u64> {
        match answer {
            Ok(Some(Answer::Refused { code, .. })) => Some(code),
            _ => None,
        }
    }

    #[test]
    fn a_place_is_told_and_one_more_than_the_most_is_refused_until_one_is_answered() {
        let mut ends = Ends::new();
        let open = |port| ends.open(&target(port).encode());
        let ids: Vec<StreamId> = (1..).take(CONNECTS_MAX + 1).map(open).collect();
        assert_eq!(ends.targets.len(), CONNECTS_MAX);
        assert_eq!(ends.targets[0], (ids[0], target(1)));
        assert_eq!(code(ends.answer(ids[CONNECTS_MAX])), Some(BUSY));
        let opened = Answer::Opened { address: "127.0.0.1:1".to_owned() };
        ends.reception.answer(&mut ends.server, ids[0], &opened);
        ends.carry();
        assert_eq!(ends.answer(ids[0]), Ok(Some(opened)));
        ends.open(&target(34).encode());
        assert_eq!(ends.targets.len(), CONNECTS_MAX + 1);
        ends.reception.give_up(&mut ends.server, ids[1]);
        ends.carry();
        assert_eq!(ends.answer(ids[1]), Err(PrefaceError::Ended));
        assert!(ends.reception.reading.is_empty());
    }

    #[test]
    fn a_question_that_is_answered_at_once_is_read_beside_the_most_connections() {
        let mut ends = Ends::new();
        for port in (1..).take(CONNECTS_MAX) {
            ends.open(&target(port).encode());
        }
        let at = ListenPlace::Port { host: None, port: 0 };
        let listen = Listen { number: 0, at, mask: 0, replaces: false };
        let questions = [
            Target::Agent,
            Target::Listen(listen),
            Target::Foreground,
            Target::Controller("cubic".to_owned()),
        ];
        for question in questions {
            let id = ends.open(&question.encode());
            assert_eq!(ends.targets.last(), Some(&(id, question)));
        }
    }

    #[test]
    fn a_message_out_of_bounds_is_refused_in_words() {
        let mut ends = Ends::new();
        let long = Target::Tcp { host: "h".repeat(256), port: 1 }.encode();
        for message in [&long[..], &[0xFF, 0x7F], &[1, 8]] {
            let id = ends.open(message);
            assert_eq!(code(ends.answer(id)), Some(NOT_UNDERSTOOD), "{message:x?}");
        }
        assert!(ends.targets.is_empty() && ends.server.closed().is_none());
    }

    #[test]
    fn streams_of_unknown_kinds_are_reset_and_the_hundredth_closes_the_layer() {
        let mut ends = Ends::new();
        for number in 1..=STRANGE_MAX {
            assert!(ends.server.closed().is_none(), "{number}");
            let id = ends.open(&[2, 8, 11]);
            let read = ends.client.read(NOW, id, &mut [0; 9]);
            let is_last = number == STRANGE_MAX;
            let expected = if is_last { StreamError::Closed } else { StreamError::Reset(REFUSED) };
            assert_eq!(read, Err(expected), "{number}");
        }
        assert!(ends.server.closed().is_some());
    }

    #[test]
    fn an_end_that_the_peer_may_open_nothing_at_turns_every_stream_away() {
        let mut ends = Ends::new();
        for number in 1..=STRANGE_MAX {
            let id = ends.server.open(NOW).unwrap();
            ends.server.write(id, &target(22).encode()).unwrap();
            ends.carry();
            ends.reception.turn_away(NOW, &mut ends.client);
            assert_eq!(ends.client.closed().is_some(), number == STRANGE_MAX);
        }
    }
}
