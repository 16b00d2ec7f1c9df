//! An end of a tunnel, sans I/O: accepts datagrams on one side, and bytes of a stream on the other.
//!
//! A stalled stream must not build up a long queue, because old screens would then arrive first. So at most a window of
//! bytes is in flight, although pipes, ssh and TCP could hold more. The other end acknowledges arrived bytes by
//! *credit*. While the window is full, a short queue holds datagrams. A full queue drops the oldest.

use std::collections::VecDeque;

use crate::tunnel::frame::{Decoder, Frame, FrameError, HEADER_LEN};

/// Most bytes of datagram frames that an end has sent and has no credit for. Chosen: nearly all of a large instruction
/// of Mosh's protocol (32 KiB in 27 fragments), 0.25 s at 1 Mbit/s. A pipe (64 KiB) must hold the window.
pub const WINDOW_BYTES_MAX: usize = 32 * 1024;

/// Most bytes of datagrams that wait at an end for credit. Chosen: two instructions of full size, so that a full window
/// does not cause the retransmission of a large change.
const QUEUE_BYTES_MAX: usize = 64 * 1024;

/// Number of arrived bytes of datagram frames after which this end sends credit. Chosen: a quarter of the window.
/// Typing then causes few credit frames, and a full window opens again before all of it has arrived.
const CREDIT_STEP: usize = WINDOW_BYTES_MAX / 4;

/// An end of a tunnel: datagrams on one side, a stream on the other.
#[derive(Debug, Default)]
pub struct Carrier {
    decoder: Decoder,
    /// Bytes of datagram frames that have arrived, and for which this end has not sent credit.
    arrived: usize,
    /// Bytes of datagram frames that this end has sent, and for which it has not received credit.
    in_flight: usize,
    /// Datagrams that wait for credit, oldest first. Their size is `queue_bytes`.
    queue: VecDeque<Vec<u8>>,
    queue_bytes: usize,
    /// Encoded frames for the stream, which has accepted the first `taken` bytes of them.
    out: Vec<u8>,
    taken: usize,
    /// Whether the report for the other end, that no program listens at the session's port, is not encoded yet.
    refused: bool,
    /// Text about a forwarder for the other end. It is not encoded in `out` yet.
    words: Option<String>,
}

/// A message of the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A datagram has arrived.
    Datagram(Vec<u8>),
    /// The other end reports that no program listens at the session's port.
    Refused,
    /// Text from or about a [`forwarder`](super::forwarder).
    Words(String),
}

impl Carrier {
    /// Queues a datagram for the other end. If the queue is full, its oldest datagrams are dropped.
    pub fn handle_datagram(&mut self, datagram: &[u8]) {
        self.queue_bytes += datagram.len();
        self.queue.push_back(datagram.to_vec());
        while self.queue_bytes > QUEUE_BYTES_MAX {
            let oldest = self.queue.pop_front().expect("bytes that wait are in datagrams");
            self.queue_bytes -= oldest.len();
            tracing::debug!(len = oldest.len(), "datagram dropped before the tunnel");
        }
    }

    /// Queues the report for the other end that no program listens at the session's port.
    pub fn handle_refusal(&mut self) {
        self.refused = true;
    }

    /// Queues text about a forwarder. It replaces an earlier text that still waits.
    pub fn handle_words(&mut self, words: String) {
        self.words = Some(words);
    }

    /// Consumes bytes from the front of `bytes`, up to the next message. `None` if they contain no complete message.
    ///
    /// # Errors
    ///
    /// Returns an error if the stream is malformed. The bytes after the fault cannot be read.
    pub fn handle_bytes(&mut self, bytes: &mut &[u8]) -> Result<Option<Arrival>, FrameError> {
        while let Some(frame) = self.decoder.next(bytes)? {
            match frame {
                Frame::Datagram(datagram) => {
                    self.arrived += HEADER_LEN + datagram.len();
                    return Ok(Some(Arrival::Datagram(datagram)));
                }
                Frame::Credit(credit) => {
                    let credit = usize::try_from(credit).unwrap_or(usize::MAX);
                    self.in_flight = self.in_flight.saturating_sub(credit);
                }
                Frame::Refused => return Ok(Some(Arrival::Refused)),
                Frame::Words(words) => return Ok(Some(Arrival::Words(words))),
            }
        }
        Ok(None)
    }

    /// Returns whether no datagram waits and half of the window is free. Only then does the caller send packets of
    /// streams. Urgent datagrams thus never wait for them.
    pub const fn has_room(&self) -> bool {
        self.queue_bytes == 0 && self.in_flight <= WINDOW_BYTES_MAX / 2
    }

    /// Returns bytes for the stream. The caller reports by [`Self::consume`] how many of them the stream has accepted.
    pub fn poll_bytes(&mut self) -> &[u8] {
        if self.taken == self.out.len() {
            self.out.clear();
            self.taken = 0;
            self.encode();
        }
        &self.out[self.taken..]
    }

    /// Records that the stream has accepted `len` bytes.
    pub fn consume(&mut self, len: usize) {
        self.taken = (self.taken + len).min(self.out.len());
    }

    fn encode(&mut self) {
        if self.arrived >= CREDIT_STEP {
            let credit = u32::try_from(self.arrived).unwrap_or(u32::MAX);
            Frame::Credit(credit).encode(&mut self.out);
            self.arrived = 0;
        }
        if core::mem::take(&mut self.refused) {
            Frame::Refused.encode(&mut self.out);
        }
        if let Some(words) = self.words.take() {
            Frame::Words(words).encode(&mut self.out);
        }
        while let Some(datagram) = self.queue.front()
            && self.in_flight + HEADER_LEN + datagram.len() <= WINDOW_BYTES_MAX
        {
            let datagram = self.queue.pop_front().expect("there is one in front");
            self.queue_bytes -= datagram.len();
            let before = self.out.len();
            Frame::Datagram(datagram).encode(&mut self.out);
            self.in_flight += self.out.len() - before;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a datagram of full size that begins with `number`.
    fn datagram(number: u8) -> Vec<u8> {
        let mut datagram = vec![0; 1252];
        datagram[0] = number;
        datagram
    }

    /// Moves all bytes that `from` has for the stream to `to`, `piece` at a time. Returns the datagrams that arrive.
    fn deliver(from: &mut Carrier, to: &mut Carrier, piece: usize) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        loop {
            let bytes = from.poll_bytes();
            let len = bytes.len().min(piece);
            if len == 0 {
                return found;
            }
            let bytes = bytes[..len].to_vec();
            from.consume(len);
            let mut rest = bytes.as_slice();
            while let Some(arrival) = to.handle_bytes(&mut rest).unwrap() {
                let Arrival::Datagram(datagram) = arrival else { panic!("nobody refused") };
                found.push(datagram);
            }
        }
    }

    /// Returns how many encoded bytes the carrier offers to a stream whose other end reads nothing.
    fn offered(carrier: &mut Carrier) -> usize {
        let mut total = 0;
        while !carrier.poll_bytes().is_empty() {
            let len = carrier.poll_bytes().len();
            carrier.consume(len);
            total += len;
        }
        total
    }

    #[test]
    fn while_the_other_end_takes_everything_nothing_is_lost_and_order_stays() {
        let (mut near, mut far) = (Carrier::default(), Carrier::default());
        let mut arrived = 0_u8;
        for number in 0..=250 {
            near.handle_datagram(&datagram(number));
            for found in deliver(&mut near, &mut far, 1000) {
                assert_eq!(found, datagram(arrived));
                arrived += 1;
            }
            assert_eq!(deliver(&mut far, &mut near, 1), [[0_u8; 0]; 0], "only credit comes back");
        }
        assert_eq!(arrived, 251);
    }

    #[test]
    fn a_stalled_stream_holds_a_window_and_then_the_newest_wait() {
        let mut near = Carrier::default();
        let mut offered_bytes = 0;
        for number in 0..200 {
            near.handle_datagram(&datagram(number));
            offered_bytes += offered(&mut near);
            assert!(near.queue_bytes <= QUEUE_BYTES_MAX);
        }
        assert!(offered_bytes <= WINDOW_BYTES_MAX, "{offered_bytes}");
        assert!(offered_bytes > WINDOW_BYTES_MAX - 1300, "the window is used");
        assert!(!near.has_room() && Carrier::default().has_room());
        assert_eq!(near.queue.back().map(|newest| newest[0]), Some(199));
        let waiting = u8::try_from(near.queue.len()).unwrap();
        assert_eq!(near.queue.front().map(|oldest| oldest[0]), Some(200 - waiting));
    }

    #[test]
    fn the_queue_holds_its_bound_and_one_byte_more_displaces_the_oldest() {
        let mut near = Carrier::default();
        // The stream takes no bytes in this test, so nothing leaves the queue.
        for _ in 0..QUEUE_BYTES_MAX / 1024 {
            near.handle_datagram(&[1; 1024]);
        }
        assert_eq!((near.queue_bytes, near.queue.len()), (QUEUE_BYTES_MAX, 64));
        near.handle_datagram(&[2]);
        assert_eq!((near.queue_bytes, near.queue.len()), (QUEUE_BYTES_MAX - 1023, 64));
    }

    #[test]
    fn a_stream_that_moves_again_brings_what_waited_and_the_window_opens() {
        let (mut near, mut far) = (Carrier::default(), Carrier::default());
        for number in 0..60 {
            near.handle_datagram(&datagram(number));
        }
        let mut found = Vec::new();
        for _ in 0..10 {
            found.extend(deliver(&mut near, &mut far, 4096));
            deliver(&mut far, &mut near, 4096);
        }
        let numbers: Vec<u8> = found.iter().map(|datagram| datagram[0]).collect();
        assert_eq!(numbers.last(), Some(&59));
        assert!(numbers.len() >= 52, "the queue's worth: {}", numbers.len());
        assert!(numbers.is_sorted());
    }

    #[test]
    fn credit_beyond_what_was_sent_opens_no_larger_window() {
        let (mut near, mut far) = (Carrier::default(), Carrier::default());
        let mut bytes = Vec::new();
        Frame::Credit(u32::MAX).encode(&mut bytes);
        assert_eq!(near.handle_bytes(&mut bytes.as_slice()), Ok(None));
        for number in 0..60 {
            near.handle_datagram(&datagram(number));
        }
        assert!(offered(&mut near) <= WINDOW_BYTES_MAX);
        far.handle_refusal();
        far.handle_refusal();
        let bytes = far.poll_bytes().to_vec();
        assert_eq!(near.handle_bytes(&mut bytes.as_slice()), Ok(Some(Arrival::Refused)));
        assert_eq!(bytes.len(), HEADER_LEN, "it is said once");
    }
}
