//! The cipher of one end: AES-128-OCB with this protocol's nonces, and the key's life span.

use core::fmt;

use crate::datagram::Direction;
use crate::error::SendError;
use crate::key::Key;
use crate::num::SeqNum;
use crate::ocb::{BLOCK_LEN, Ocb, TAG_LEN};

/// Blocks one end may seal with a key. Both ends share the key, so that together they stay below
/// 2^48, the bound of RFC 7253, section 5.
/// Source: Mosh 1.4.0, docs/wire.md.
const SEALED_BLOCKS_MAX: u64 = 1 << 47;

/// Seals and opens with one key; counts what it seals.
///
/// It seals each nonce once: within a direction sequence numbers only go up. There is no way to
/// copy a cipher; whoever makes two with one key must seal different directions with them.
pub struct Cipher {
    ocb: Box<Ocb>,
    sealed_blocks: u64,
    /// The lowest sequence number that may still be sealed, for each direction.
    unsealed: [u64; 2],
}

impl Cipher {
    /// Prepares the key schedule.
    pub fn new(key: &Key) -> Self {
        Self { ocb: Ocb::new(key.bytes()), sealed_blocks: 0, unsealed: [0; 2] }
    }

    /// Encrypts `message` in place and returns its tag.
    pub(crate) fn seal(
        &mut self,
        direction: Direction,
        seq: SeqNum,
        message: &mut [u8],
    ) -> Result<[u8; TAG_LEN], SendError> {
        let unsealed = &mut self.unsealed[usize::from(direction.bit())];
        if seq.get() < *unsealed {
            return Err(SendError::SequenceReused { seq });
        }
        // Counted even where it is refused, so that an exhausted key stays exhausted.
        let blocks = message.len().div_ceil(BLOCK_LEN) as u64;
        self.sealed_blocks = self.sealed_blocks.saturating_add(blocks);
        if self.sealed_blocks >= SEALED_BLOCKS_MAX {
            return Err(SendError::KeyExhausted);
        }
        *unsealed = seq.get() + 1;
        Ok(self.ocb.seal(nonce(direction, seq), message))
    }

    /// Decrypts `message` in place and returns whether it is authentic; where not, it holds zeros.
    #[must_use]
    pub(crate) fn open(
        &mut self,
        direction: Direction,
        seq: SeqNum,
        message: &mut [u8],
        tag: &[u8; TAG_LEN],
    ) -> bool {
        self.ocb.open(nonce(direction, seq), message, tag)
    }
}

impl fmt::Debug for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cipher").field("sealed_blocks", &self.sealed_blocks).finish_non_exhaustive()
    }
}

/// Returns the 96-bit nonce: four zero bytes, then the eight that travel.
fn nonce(direction: Direction, seq: SeqNum) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&direction.with_seq(seq).to_be_bytes());
    nonce
}
