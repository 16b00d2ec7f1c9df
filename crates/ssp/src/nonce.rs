//! The nonce, which makes each sealed datagram unique: its direction and its number.

use crate::num::SeqNum;

/// Bytes of the nonce that are sent in a datagram.
pub(crate) const NONCE_LEN: usize = 8;

/// The direction a datagram travels in, the top bit of its nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The datagram travels from client to server: the bit is 0.
    ToServer,
    /// The datagram travels from server to client: the bit is 1.
    ToClient,
}

impl Direction {
    /// Returns the other direction.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::ToServer => Self::ToClient,
            Self::ToClient => Self::ToServer,
        }
    }

    pub(crate) const fn bit(self) -> u8 {
        match self {
            Self::ToServer => 0,
            Self::ToClient => 1,
        }
    }

    /// Returns the sent part of the nonce: this direction's bit above the 63 bits of the sequence number.
    pub(crate) fn with_seq(self, seq: SeqNum) -> u64 {
        (u64::from(self.bit()) << 63) | seq.get()
    }

    /// Splits the nonce of a datagram into direction and sequence number.
    pub(crate) const fn split(nonce: u64) -> (Self, SeqNum) {
        let direction = if nonce >> 63 == 0 { Self::ToServer } else { Self::ToClient };
        (direction, SeqNum::new(nonce))
    }
}

/// Returns the cipher's 96-bit nonce: four zero bytes, then the eight that are sent.
pub(crate) fn nonce(direction: Direction, seq: SeqNum) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&direction.with_seq(seq).to_be_bytes());
    nonce
}
