//! Seals and opens stream packets (docs/wire.md, section 9), which have their own key and their own packet numbers.
//!
//! Bit 62 of a datagram's number marks a stream packet. The numbers of the session's own datagrams stay far below. This
//! module does not interpret a packet's contents.

use core::net::SocketAddr;
use core::ops::Range;
use std::collections::VecDeque;

use rove_units::Instant;

use crate::connection::{Connection, Transmit};
use crate::crypto::Cipher;
use crate::datagram::{DATAGRAM_LEN_MAX, Sealed};
use crate::error::{ReceiveError, SendError};
use crate::hello::Capabilities;
use crate::key::Key;
use crate::nonce::{Direction, NONCE_LEN};
use crate::num::SeqNum;
use crate::ocb::TAG_LEN;
use crate::window::Window;

/// The bit of a datagram's number that marks a stream packet. Source: docs/wire.md.
const PACKET_CLASS: u64 = 1 << 62;

/// The bit of [`PACKET_CLASS`] within a datagram's first byte.
const PACKET_CLASS_BYTE: u8 = 0x40;

/// Number of possible packet numbers, which are below 2^60. Source: docs/wire.md.
const PACKET_NUMBERS: u64 = 1 << 60;

/// Maximum number of opened stream packets that wait for [`Carriage::poll_packet`]. Further packets count as lost.
/// Chosen: as many as a driver receives in one turn, which are four full batches from the system.
const OPENED_MAX: usize = 256;

/// An authentic stream packet, which arrived for the first time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CarriedPacket {
    /// The packet's number, below 2^60.
    pub number: u64,
    /// The packet's decrypted contents.
    pub payload: Vec<u8>,
}

/// Seals and opens stream packets.
#[derive(Debug)]
pub(crate) struct PacketSeal {
    cipher: Cipher,
    window: Window,
    opened: VecDeque<CarriedPacket>,
}

impl PacketSeal {
    /// Derives the stream packets' key from the session's key.
    fn new(key: &Key) -> Self {
        let cipher = Cipher::new(&key.for_streams());
        Self { cipher, window: Window::new(), opened: VecDeque::new() }
    }

    /// Creates the seal if `capabilities`, which this end offers, include streams. Otherwise returns `None`.
    pub(crate) fn offered(capabilities: Option<Capabilities>, key: &Key) -> Option<Box<Self>> {
        let offers = capabilities?.contains(Capabilities::STREAMS);
        offers.then(|| Box::new(Self::new(key)))
    }

    /// Returns the memory that holds everything derived from the key ([`Cipher::memory`]).
    pub(crate) fn key_memory(&self) -> Range<*const u8> {
        self.cipher.memory()
    }

    /// Returns how many stream packets the peer has sent, judged by the highest number that arrived.
    pub(crate) const fn peer_packets(&self) -> u64 {
        self.window.sent()
    }

    /// Returns whether a datagram claims to be a stream packet.
    pub(crate) fn is_claimed_by(datagram: &[u8]) -> bool {
        datagram.first().is_some_and(|first| first & PACKET_CLASS_BYTE != 0)
    }

    /// Opens a packet and, if fewer than [`OPENED_MAX`] wait, keeps it for [`Carriage::poll_packet`]. Returns whether
    /// the packet's number is the highest so far. Forged and repeated packets are an error.
    pub(crate) fn open(&mut self, sends: Direction, bytes: &[u8]) -> Result<bool, ReceiveError> {
        let sealed = Sealed::parse(sends.opposite(), bytes)?;
        let number = sealed.seq().get() & !PACKET_CLASS;
        let seq = SeqNum::new(number);
        // A peer that has the key seals only numbers below `PACKET_NUMBERS`.
        if number >= PACKET_NUMBERS {
            return Err(ReceiveError::Forged);
        }
        if !self.window.takes(seq) {
            return Err(ReceiveError::Replayed { seq });
        }
        let mut buffer = [0; DATAGRAM_LEN_MAX];
        let payload = sealed.decrypt(&mut self.cipher, &mut buffer)?;
        if self.opened.len() < OPENED_MAX {
            self.opened.push_back(CarriedPacket { number, payload: payload.to_vec() });
        }
        Ok(self.window.record(seq))
    }

    fn seal(
        &mut self,
        sends: Direction,
        number: u64,
        payload: &[u8],
    ) -> Result<Vec<u8>, SendError> {
        debug_assert!(number < PACKET_NUMBERS, "a layer ends before its numbers do");
        let seq = SeqNum::new(PACKET_CLASS | number);
        let mut bytes = Vec::with_capacity(NONCE_LEN + payload.len() + TAG_LEN);
        bytes.extend(sends.with_seq(seq).to_be_bytes());
        bytes.extend(payload);
        let tag = self.cipher.seal(sends, seq, &mut bytes[NONCE_LEN..])?;
        bytes.extend(tag);
        Ok(bytes)
    }
}

/// Access to a session's connection for stream packets.
#[derive(Debug)]
pub struct Carriage<'a> {
    seal: &'a mut PacketSeal,
    connection: &'a mut Connection,
    typed_at: Option<Instant>,
}

impl<'a> Carriage<'a> {
    pub(crate) const fn new(seal: &'a mut PacketSeal, connection: &'a mut Connection) -> Self {
        Self { seal, connection, typed_at: None }
    }

    /// Returns this access with the time at which the session's user last typed. `None` before the first key.
    #[must_use]
    pub const fn with_typed_at(self, typed_at: Option<Instant>) -> Self {
        Self { typed_at, ..self }
    }

    /// Returns when the session's user last typed. `None` if that is not known.
    pub const fn typed_at(&self) -> Option<Instant> {
        self.typed_at
    }

    /// Returns the next stream packet that has arrived. `None` if all were returned.
    pub fn poll_packet(&mut self) -> Option<CarriedPacket> {
        self.seal.opened.pop_front()
    }

    /// Returns whether arrived stream packets wait for [`Carriage::poll_packet`].
    pub fn has_packets(&self) -> bool {
        !self.seal.opened.is_empty()
    }

    /// Returns the maximum number of bytes that the contents of a stream packet may have on the present path.
    pub fn payload_max(&mut self) -> usize {
        self.connection.size().get() - NONCE_LEN - TAG_LEN
    }

    /// Called when packets with at least `len` bytes of contents do not arrive, although smaller ones do. Datagrams
    /// then have at most 1200 bytes or, if such packets' datagrams have no more, 500. Later the former size is probed.
    pub fn handle_black_hole(&mut self, now: Instant, len: usize) {
        self.connection.size().handle_black_hole(now, len + NONCE_LEN + TAG_LEN);
    }

    /// Returns when the newest datagram or stream packet of the peer arrived. `None` before the first.
    pub fn heard_at(&self) -> Option<Instant> {
        self.connection.path().heard_at
    }

    /// Returns how many times the path may have changed (another address or network), and the peer's address, if known.
    pub const fn path(&self) -> (u64, Option<SocketAddr>) {
        (self.connection.path_changes(), self.connection.peer())
    }

    /// Seals a packet for the peer. `number` must be higher than the numbers of all earlier packets. Returns `None`
    /// while no peer is known and after the key is exhausted; the caller then treats the packet as lost.
    pub fn seal(&mut self, number: u64, payload: &[u8]) -> Option<Transmit> {
        let sealed = self.seal.seal(self.connection.sends, number, payload);
        let sealed = sealed.inspect_err(|error| tracing::info!(%error, "no packet can be sent"));
        self.connection.address(sealed.ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{ToClient, ToServer};

    fn seal() -> PacketSeal {
        PacketSeal::new(&Key::from_bytes(*b"0123456789abcdef"))
    }

    #[test]
    fn a_packet_has_a_class_of_numbers_and_a_key_of_its_own() {
        let sealed = seal().seal(ToClient, 5, b"timeframes").unwrap();
        assert_eq!(sealed[..8], [0xC0, 0, 0, 0, 0, 0, 0, 5]);
        assert_eq!(sealed.len(), 8 + 10 + 16);
        assert!(PacketSeal::is_claimed_by(&sealed) && !PacketSeal::is_claimed_by(&[0x3F]));
        let mut receiver = seal();
        assert_eq!(receiver.open(ToServer, &sealed), Ok(true));
        let packet = CarriedPacket { number: 5, payload: b"timeframes".to_vec() };
        assert_eq!(receiver.opened.pop_front(), Some(packet));
        let session = &mut Cipher::new(&Key::from_bytes(*b"0123456789abcdef"));
        let opened = Sealed::parse(ToClient, &sealed).unwrap().open(session);
        assert_eq!(opened, Err(ReceiveError::Forged), "not the session's key");
    }

    #[test]
    fn what_was_not_sealed_as_this_packet_is_refused_and_never_kept() {
        let sealed = seal().seal(ToClient, 5, b"timeframes").unwrap();
        let mut receiver = seal();
        assert_eq!(receiver.open(ToClient, &sealed), Err(ReceiveError::Reflected));
        for (at, bit) in [(0, 0x40), (0, 0x20), (0, 0x10), (7, 1), (8, 1), (33, 1)] {
            let mut changed = sealed.clone();
            changed[at] ^= bit;
            assert_eq!(receiver.open(ToServer, &changed), Err(ReceiveError::Forged), "{at} {bit}");
        }
        assert_eq!(
            receiver.open(ToServer, &sealed[..23]),
            Err(ReceiveError::Truncated { len: 23 })
        );
        assert!(receiver.opened.is_empty());
        assert_eq!(receiver.open(ToServer, &sealed), Ok(true));
        let again = receiver.open(ToServer, &sealed);
        assert_eq!(again, Err(ReceiveError::Replayed { seq: SeqNum::new(5) }));
    }

    #[test]
    fn packets_that_nobody_takes_are_bounded_and_no_number_is_sealed_twice() {
        let (mut sender, mut receiver) = (seal(), seal());
        for number in 0..1_000 {
            let sealed = sender.seal(ToServer, number, &[]).unwrap();
            assert_eq!(receiver.open(ToClient, &sealed), Ok(true));
        }
        assert_eq!(receiver.opened.len(), OPENED_MAX);
        let late = seal().seal(ToServer, 0, &[]).unwrap();
        assert!(receiver.open(ToClient, &late).is_err());
        assert!(sender.seal(ToServer, 999, &[]).is_err());
        assert!(sender.seal(ToServer, PACKET_NUMBERS - 1, &[]).is_ok());
    }
}
