//! The sealed datagram: nonce, timestamps, payload, tag.

use crate::crypto::Cipher;
use crate::error::ReceiveError;
use crate::num::SeqNum;

/// Which way a datagram travels: the top bit of its nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the client: bit 0.
    ToServer,
    /// From the server: bit 1.
    ToClient,
}

/// What the IP header said about congestion (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable, or unknown.
    #[default]
    NotCapable,
    /// ECN-capable, no congestion met.
    Capable,
    /// Congestion experienced.
    CongestionExperienced,
}

/// Low 16 bits of an end's millisecond clock, never 0xFFFF. Wraps, so it is not `Ord`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp16(u16);

/// The opened contents of a datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// Which way it travels.
    pub direction: Direction,
    /// Its number.
    pub seq: SeqNum,
    /// When it was built, by its sender's clock; `None` where 0xFFFF stands.
    pub timestamp: Option<Timestamp16>,
    /// The echo of the receiver's own timestamp; `None` where 0xFFFF stands.
    pub timestamp_reply: Option<Timestamp16>,
    /// What it carries: one fragment's bytes.
    pub payload: Vec<u8>,
}

impl Datagram {
    /// Seals this datagram into a UDP payload.
    ///
    /// # Errors
    ///
    /// Returns [`crate::SendError::KeyExhausted`] once the key may seal no more.
    pub fn seal(&self, cipher: &mut Cipher) -> Result<Vec<u8>, crate::error::SendError> {
        let _ = cipher;
        todo!()
    }

    /// Opens a UDP payload: length, tag and direction are checked in this order.
    ///
    /// # Errors
    ///
    /// Returns [`ReceiveError`] saying which check failed.
    pub fn open(
        cipher: &mut Cipher,
        expected: Direction,
        bytes: &[u8],
    ) -> Result<Self, ReceiveError> {
        let _ = (cipher, expected, bytes);
        todo!()
    }
}
