//! The sealed datagram: nonce, timestamps, payload, tag.

use crate::crypto::Cipher;
use crate::error::{ReceiveError, SendError};
use crate::nonce::{Direction, NONCE_LEN};
use crate::num::SeqNum;
use crate::ocb::{MESSAGE_LEN_MAX, TAG_LEN};

/// Longest datagram that a receiver accepts, in bytes of UDP payload. Source: Mosh 1.4.0 as observed, docs/wire.md.
pub const DATAGRAM_LEN_MAX: usize = 2048;
const _: () = assert!(DATAGRAM_LEN_MAX <= MESSAGE_LEN_MAX);

/// Length of the two timestamps before the payload, in bytes.
const TIMESTAMPS_LEN: usize = 4;

/// The timestamp value that means "no timestamp".
const TIMESTAMP_NONE: u16 = 0xffff;

/// Bytes that sealing adds to a payload.
pub const DATAGRAM_OVERHEAD: usize = NONCE_LEN + TIMESTAMPS_LEN + TAG_LEN;

/// The congestion mark in the IP header (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The sender does not support ECN, or the mark is unknown.
    #[default]
    NotCapable,
    /// The sender supports ECN, and the datagram met no congestion.
    Capable,
    /// The datagram met congestion on the path.
    CongestionExperienced,
}

/// Low 16 bits of an end's millisecond clock, never 0xFFFF. Wraps, so it is not `Ord`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp16(u16);

impl Timestamp16 {
    /// Creates a timestamp from its 16 bits. `None` for 0xFFFF, which means no timestamp.
    pub const fn new(bits: u16) -> Option<Self> {
        if bits == TIMESTAMP_NONE { None } else { Some(Self(bits)) }
    }

    /// Creates the timestamp of a clock's reading in milliseconds: the low 16 bits, with 0 in place of 0xFFFF.
    pub const fn from_millis(millis: u64) -> Self {
        let [.., high, low] = millis.to_be_bytes();
        match Self::new(u16::from_be_bytes([high, low])) {
            Some(timestamp) => timestamp,
            None => Self(0),
        }
    }

    /// Returns the 16 bits.
    pub const fn get(self) -> u16 {
        self.0
    }

    /// Returns the milliseconds from `earlier` to this timestamp, modulo 65536.
    pub const fn millis_since(self, earlier: Self) -> u16 {
        self.0.wrapping_sub(earlier.0)
    }

    fn bits(timestamp: Option<Self>) -> [u8; 2] {
        timestamp.map_or(TIMESTAMP_NONE, Self::get).to_be_bytes()
    }
}

/// The opened contents of a datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The direction the datagram travels in.
    pub direction: Direction,
    /// The datagram's sequence number.
    pub seq: SeqNum,
    /// When the datagram was built, by its sender's clock. `None` if 0xFFFF was sent.
    pub timestamp: Option<Timestamp16>,
    /// The echo of the receiver's own timestamp. `None` if 0xFFFF was sent.
    pub timestamp_reply: Option<Timestamp16>,
    /// The encoded fragment.
    pub payload: Vec<u8>,
}

impl Datagram {
    /// Seals this datagram into a UDP payload.
    ///
    /// # Errors
    ///
    /// Returns [`SendError`] if the key may seal no more, or if the sequence number does not increase. A datagram
    /// longer than a receiver accepts is an error too.
    pub fn seal(&self, cipher: &mut Cipher) -> Result<Vec<u8>, SendError> {
        let len = self.payload.len().saturating_add(DATAGRAM_OVERHEAD);
        if len > DATAGRAM_LEN_MAX {
            return Err(SendError::DatagramTooLong { len });
        }
        let mut bytes = Vec::with_capacity(len);
        bytes.extend(self.direction.with_seq(self.seq).to_be_bytes());
        bytes.extend(Timestamp16::bits(self.timestamp));
        bytes.extend(Timestamp16::bits(self.timestamp_reply));
        bytes.extend(&self.payload);
        let tag = cipher.seal(self.direction, self.seq, &mut bytes[NONCE_LEN..])?;
        bytes.extend(tag);
        Ok(bytes)
    }

    /// Opens a UDP payload. Length, direction and tag are checked in this order.
    ///
    /// # Errors
    ///
    /// Returns [`ReceiveError`] saying which check failed.
    pub fn open(
        cipher: &mut Cipher,
        expected: Direction,
        bytes: &[u8],
    ) -> Result<Self, ReceiveError> {
        Sealed::parse(expected, bytes)?.open(cipher)
    }
}

/// A datagram as it arrives: its number can be read, and its tag has not been verified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sealed<'a> {
    direction: Direction,
    seq: SeqNum,
    message: &'a [u8],
    tag: &'a [u8; TAG_LEN],
}

impl<'a> Sealed<'a> {
    /// Splits a UDP payload into nonce, message and tag. Refuses a wrong length, and then a direction not `expected`.
    pub(crate) fn parse(expected: Direction, bytes: &'a [u8]) -> Result<Self, ReceiveError> {
        let len = bytes.len();
        if len > DATAGRAM_LEN_MAX {
            return Err(ReceiveError::TooLong { len });
        }
        let truncated = ReceiveError::Truncated { len };
        let Some((nonce, rest)) = bytes.split_first_chunk() else { return Err(truncated) };
        let Some((message, tag)) = rest.split_last_chunk() else { return Err(truncated) };
        let (direction, seq) = Direction::split(u64::from_be_bytes(*nonce));
        if direction != expected {
            return Err(ReceiveError::Reflected);
        }
        Ok(Self { direction, seq, message, tag })
    }

    /// Returns the sequence number that the datagram claims, before its tag is verified.
    pub(crate) const fn seq(&self) -> SeqNum {
        self.seq
    }

    /// Verifies the tag, and then decodes timestamps and payload. A wrong tag or missing timestamps are an error.
    pub(crate) fn open(self, cipher: &mut Cipher) -> Result<Datagram, ReceiveError> {
        let Self { direction, seq, .. } = self;
        let mut buffer = [0; DATAGRAM_LEN_MAX];
        let plain = self.decrypt(cipher, &mut buffer)?;
        let &[t0, t1, r0, r1, ref payload @ ..] = plain else {
            return Err(ReceiveError::TimestampsTruncated { len: plain.len() });
        };
        Ok(Datagram {
            direction,
            seq,
            timestamp: Timestamp16::new(u16::from_be_bytes([t0, t1])),
            timestamp_reply: Timestamp16::new(u16::from_be_bytes([r0, r1])),
            payload: payload.to_vec(),
        })
    }

    /// Verifies the tag, or else returns an error. The decrypted message is in the caller's buffer on the stack, so
    /// that a sender without the key causes no allocation.
    pub(crate) fn decrypt<'b>(
        &self,
        cipher: &mut Cipher,
        buffer: &'b mut [u8; DATAGRAM_LEN_MAX],
    ) -> Result<&'b [u8], ReceiveError> {
        let plain = &mut buffer[..self.message.len()];
        plain.copy_from_slice(self.message);
        if cipher.open(self.direction, self.seq, plain, self.tag) {
            Ok(plain)
        } else {
            Err(ReceiveError::Forged)
        }
    }
}

#[cfg(test)]
mod tests;
