//! The cipher of one end: AES-128-OCB with this protocol's nonces, and the limit on the use of a key.

use core::fmt;
use core::ops::Range;

use crate::error::SendError;
use crate::key::Key;
use crate::nonce::{Direction, nonce};
use crate::num::SeqNum;
use crate::ocb::{BLOCK_LEN, Ocb, TAG_LEN};
use crate::wiping::{wiping, wiping_message};

/// Maximum number of blocks that one end may seal with a key. Both ends share the key, so that together they stay below
/// 2^48, the bound of RFC 7253, section 5. Source: Mosh 1.4.0, docs/wire.md.
const SEALED_BLOCKS_MAX: u64 = 1 << 47;

/// Seals and opens messages with one key, and counts the blocks that it seals.
///
/// It uses each nonce only once, because within a direction sequence numbers must increase. A cipher cannot be cloned.
/// The caller must not let two ciphers with one key seal the same direction.
pub struct Cipher {
    ocb: Box<Ocb>,
    sealed_blocks: u64,
    /// The lowest sequence number that may still be sealed, for each direction.
    unsealed: [u64; 2],
}

impl Cipher {
    /// Derives the cipher's key schedule from `key`.
    pub fn new(key: &Key) -> Self {
        Self { ocb: wiping(|| Ocb::new(key.bytes())), sealed_blocks: 0, unsealed: [0; 2] }
    }

    /// Adds the number of blocks that another cipher may have sealed with this key.
    pub(crate) const fn resume(&mut self, sealed_blocks: u64) {
        self.sealed_blocks = self.sealed_blocks.saturating_add(sealed_blocks);
    }

    pub(crate) const fn sealed_blocks(&self) -> u64 {
        self.sealed_blocks
    }

    /// Returns the memory that holds everything derived from the key for as long as the cipher lives.
    pub(crate) fn memory(&self) -> Range<*const u8> {
        let start = core::ptr::from_ref(&*self.ocb);
        start.cast()..start.wrapping_add(1).cast()
    }

    /// Encrypts `message` in place and returns its tag. An exhausted key, or a number that does not increase, is an
    /// error.
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
        // Blocks of a refused message count, too, so that an exhausted key stays exhausted.
        let blocks = message.len().div_ceil(BLOCK_LEN) as u64;
        self.sealed_blocks = self.sealed_blocks.saturating_add(blocks);
        if self.sealed_blocks >= SEALED_BLOCKS_MAX {
            return Err(SendError::KeyExhausted);
        }
        *unsealed = seq.get() + 1;
        Ok(wiping_message(|| self.ocb.seal(nonce(direction, seq), message)))
    }

    /// Decrypts `message` in place and returns whether it is authentic; if not, `message` holds zeros.
    #[must_use]
    pub(crate) fn open(
        &mut self,
        direction: Direction,
        seq: SeqNum,
        message: &mut [u8],
        tag: &[u8; TAG_LEN],
    ) -> bool {
        wiping_message(|| self.ocb.open(nonce(direction, seq), message, tag))
    }
}

impl fmt::Debug for Cipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cipher").field("sealed_blocks", &self.sealed_blocks).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{ToClient, ToServer};

    fn cipher() -> Cipher {
        Cipher::new(&Key::from_bytes(*b"0123456789abcdef"))
    }

    fn seal(
        cipher: &mut Cipher,
        direction: Direction,
        seq: u64,
        len: usize,
    ) -> Result<(), SendError> {
        let mut message = vec![0; len];
        cipher.seal(direction, SeqNum::new(seq), &mut message).map(|_| ())
    }

    #[test]
    fn key_seals_one_block_less_than_the_limit_and_then_no_more() {
        for (before, len, sealed) in [
            (SEALED_BLOCKS_MAX - 2, 16, true),
            (SEALED_BLOCKS_MAX - 2, 17, false),
            (SEALED_BLOCKS_MAX - 1, 1, false),
            (SEALED_BLOCKS_MAX - 1, 0, true),
            (u64::MAX, 16, false),
        ] {
            let mut cipher = cipher();
            cipher.sealed_blocks = before;
            let outcome = seal(&mut cipher, ToServer, 0, len);
            assert_eq!(outcome, if sealed { Ok(()) } else { Err(SendError::KeyExhausted) });
            assert_eq!(seal(&mut cipher, ToServer, 1, 16), Err(SendError::KeyExhausted));
            assert_eq!(
                seal(&mut cipher, ToServer, 2, 0).is_ok(),
                cipher.sealed_blocks < SEALED_BLOCKS_MAX
            );
        }
    }

    #[test]
    fn blocks_are_rounded_up_for_each_message_and_only_sealing_counts() {
        let mut cipher = cipher();
        for (seq, (len, total)) in
            [(0, 0), (1, 1), (16, 2), (17, 4), (1228, 81)].into_iter().enumerate()
        {
            seal(&mut cipher, ToServer, seq as u64, len).unwrap();
            assert_eq!(cipher.sealed_blocks, total);
        }
        assert!(!cipher.open(ToClient, SeqNum::new(0), &mut [0; 64], &[0; TAG_LEN]));
        assert_eq!(cipher.sealed_blocks, 81);
    }

    #[test]
    fn no_nonce_seals_twice() {
        let mut cipher = cipher();
        let reused = |seq| Err(SendError::SequenceReused { seq: SeqNum::new(seq) });
        let last = (1 << 63) - 1;
        for (direction, seq, outcome) in [
            (ToServer, 5, Ok(())),
            (ToServer, 5, reused(5)),
            (ToServer, 4, reused(4)),
            (ToClient, 4, Ok(())),
            (ToServer, 6, Ok(())),
            (ToServer, last, Ok(())),
            (ToServer, last, reused(last)),
            (ToServer, last + 1, reused(0)),
            (ToClient, 5, Ok(())),
        ] {
            assert_eq!(seal(&mut cipher, direction, seq, 20), outcome, "{direction:?} {seq}");
        }
    }

    #[test]
    fn refused_message_is_left_alone() {
        let mut cipher = cipher();
        seal(&mut cipher, ToServer, 0, 1).unwrap();
        let mut message = *b"as it was";
        assert!(cipher.seal(ToServer, SeqNum::new(0), &mut message).is_err());
        cipher.sealed_blocks = SEALED_BLOCKS_MAX;
        assert!(cipher.seal(ToServer, SeqNum::new(1), &mut message).is_err());
        assert_eq!(message, *b"as it was");
    }

    #[test]
    fn nonce_is_direction_and_number_behind_zeros() {
        for (direction, seq, expected) in [
            (ToServer, 0, [0; 12]),
            (ToClient, 1, [0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 1]),
            (ToServer, u64::MAX, [0, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        ] {
            assert_eq!(nonce(direction, SeqNum::new(seq)), expected);
        }
    }
}
