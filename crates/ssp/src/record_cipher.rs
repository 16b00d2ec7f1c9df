//! The cipher of the records that a client keeps on its computer. It is the cipher of datagrams, with another key.

use crate::key::Key;
use crate::nonce::{Direction, nonce};
use crate::num::SeqNum;
use crate::ocb::{MESSAGE_LEN_MAX, Ocb, TAG_LEN};
use crate::wiping::{wiping, wiping_message};

/// Seals and opens numbered pieces of a record. The caller must not seal two pieces with the same number and key.
pub struct RecordCipher(Box<Ocb>);

impl RecordCipher {
    /// Maximum length in bytes of a piece of a record, before it is sealed.
    pub const PIECE_LEN_MAX: usize = MESSAGE_LEN_MAX;

    /// Number of bytes that sealing adds to a piece.
    pub const TAG_LEN: usize = TAG_LEN;

    /// Prepares the key schedule.
    pub fn new(key: &Key) -> Self {
        Self(wiping(|| Ocb::new(key.bytes())))
    }

    /// Encrypts a piece and appends its tag.
    pub fn seal(&mut self, number: u64, piece: &mut Vec<u8>) {
        let nonce = nonce(Direction::ToServer, SeqNum::new(number));
        let tag = wiping_message(|| self.0.seal(nonce, piece));
        piece.extend(tag);
    }

    /// Decrypts a piece in place and removes its tag; returns whether the piece is authentic.
    #[must_use]
    pub fn open(&mut self, number: u64, piece: &mut Vec<u8>) -> bool {
        let Some((_, &tag)) = piece.split_last_chunk::<TAG_LEN>() else { return false };
        piece.truncate(piece.len() - TAG_LEN);
        let nonce = nonce(Direction::ToServer, SeqNum::new(number));
        piece.len() <= MESSAGE_LEN_MAX && wiping_message(|| self.0.open(nonce, piece, &tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_opens_under_its_key_and_number_only() {
        let cipher = |byte| RecordCipher::new(&Key::from_bytes([byte; 16]));
        for len in [0, 1, 100, RecordCipher::PIECE_LEN_MAX] {
            let mut sealed = vec![3; len];
            cipher(1).seal(7, &mut sealed);
            for (byte, number, opens) in [(1, 7, true), (1, 8, false), (2, 7, false)] {
                let mut piece = sealed.clone();
                assert_eq!(cipher(byte).open(number, &mut piece), opens, "{len} bytes");
                assert!(!opens || piece == vec![3; len]);
            }
        }
        assert!(!cipher(1).open(7, &mut vec![0; TAG_LEN - 1]));
    }
}
