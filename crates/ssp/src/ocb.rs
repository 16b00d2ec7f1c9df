//! OCB3 (RFC 7253) over AES-128: 128-bit tag, 96-bit nonce, no associated data.
//!
//! A block is a `u128`, whose highest bit is the block's first bit in the RFC. AES encrypts eight blocks at once, which
//! fills the pipeline of the processor's AES instructions. Without them, the bitsliced software also works on eight
//! blocks.

use aes::Aes128;
use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Bytes of an authentication tag.
pub(crate) const TAG_LEN: usize = 16;

/// Bytes of an AES block.
pub(crate) const BLOCK_LEN: usize = 16;

/// Longest message to seal or open, in bytes. Chosen: a datagram is never longer, and the table of offsets stays short.
pub(crate) const MESSAGE_LEN_MAX: usize = 2048;

/// Blocks that AES encrypts at once. Chosen: both AES-NI and the bitsliced fallback are built for this number.
const WIDE: usize = 8;

/// Entries of the offset table: one for each number of trailing zeros a block's index can have.
const L_LEN: usize = 8;
const _: () = assert!(MESSAGE_LEN_MAX / BLOCK_LEN < 1 << L_LEN);

/// The nonce bits that the block cipher does not encrypt (RFC 7253, section 4.2): the lowest six.
const NONCE_BOTTOM: u128 = 0x3f;

/// The key schedule and everything derived from it; wiped on drop.
#[derive(ZeroizeOnDrop)]
pub(crate) struct Ocb {
    aes: Aes128,
    l_star: u128,
    l_dollar: u128,
    l: [u128; L_LEN],
    sealing: Ktop,
    opening: Ktop,
}

impl Ocb {
    /// Derives the key schedule, on the heap so that a moved cipher leaves no copies in memory.
    pub(crate) fn new(key: &[u8; 16]) -> Box<Self> {
        let mut ocb = Box::new(Self {
            aes: Aes128::new(key.into()),
            l_star: 0,
            l_dollar: 0,
            l: [0; L_LEN],
            sealing: Ktop::default(),
            opening: Ktop::default(),
        });
        ocb.l_star = ocb.encrypt(0);
        ocb.l_dollar = double(ocb.l_star);
        let mut next = ocb.l_dollar;
        for entry in &mut ocb.l {
            next = double(next);
            *entry = next;
        }
        ocb
    }

    /// Encrypts `message` in place and returns its tag. The caller must never repeat a nonce.
    pub(crate) fn seal(&mut self, nonce: [u8; 12], message: &mut [u8]) -> [u8; TAG_LEN] {
        let start = self.sealing.offset(&self.aes, nonce);
        let mut pass = Pass::new(start);
        let (blocks, rest) = message.as_chunks_mut();
        for group in blocks.chunks_mut(WIDE) {
            for block in &*group {
                pass.checksum ^= u128::from_be_bytes(*block);
            }
            pass.group(self, group, |aes, blocks| aes.encrypt_blocks(blocks));
        }
        if !rest.is_empty() {
            pass.checksum ^= padded(rest);
            pass.rest(self, rest);
        }
        pass.tag(self).to_be_bytes()
    }

    /// Decrypts `message` in place and returns whether the tag matches. If not, `message` holds zeros: no
    /// unauthenticated plaintext leaves this function.
    #[must_use]
    pub(crate) fn open(
        &mut self,
        nonce: [u8; 12],
        message: &mut [u8],
        tag: &[u8; TAG_LEN],
    ) -> bool {
        let start = self.opening.offset(&self.aes, nonce);
        let mut pass = Pass::new(start);
        let (blocks, rest) = message.as_chunks_mut();
        for group in blocks.chunks_mut(WIDE) {
            pass.group(self, group, |aes, blocks| aes.decrypt_blocks(blocks));
            for block in &*group {
                pass.checksum ^= u128::from_be_bytes(*block);
            }
        }
        if !rest.is_empty() {
            pass.rest(self, rest);
            pass.checksum ^= padded(rest);
        }
        let authentic = bool::from(pass.tag(self).to_be_bytes().ct_eq(tag));
        if !authentic {
            message.zeroize();
        }
        authentic
    }

    fn encrypt(&self, block: u128) -> u128 {
        encrypt_block(&self.aes, block)
    }
}

/// The encrypted part of the newest nonce (Ktop). It is cached, because 64 consecutive nonces share it (RFC 7253, 4.2).
#[derive(Default, ZeroizeOnDrop)]
struct Ktop {
    /// The nonce block with its low six bits cleared. Before the first use it is 0, a value that no nonce gives.
    top: u128,
    ktop: u128,
}

impl Ktop {
    /// Returns the first offset of a message with this nonce.
    fn offset(&mut self, aes: &Aes128, nonce: [u8; 12]) -> u128 {
        let mut block = [0; BLOCK_LEN];
        // The block has seven bits of tag length modulo 128, then zeros, a one and the nonce.
        block[3] = 1;
        block[4..].copy_from_slice(&nonce);
        let block = u128::from_be_bytes(block);
        let (top, bottom) = (block & !NONCE_BOTTOM, block & NONCE_BOTTOM);
        if self.top != top {
            self.ktop = encrypt_block(aes, top);
            self.top = top;
        }
        // Stretch is Ktop and 64 more bits; the offset is the 128 bits from `bottom` on.
        let more = (self.ktop ^ (self.ktop << 8)) >> 64;
        (self.ktop << bottom) | ((more << bottom) >> 64)
    }
}

/// The offset and the checksum of one message in progress.
#[derive(ZeroizeOnDrop)]
struct Pass {
    /// The number of blocks processed.
    index: usize,
    offset: u128,
    checksum: u128,
}

impl Pass {
    const fn new(offset: u128) -> Self {
        Self { index: 0, offset, checksum: 0 }
    }

    /// Runs up to [`WIDE`] whole blocks through `cipher`, each XORed with its offset before and after.
    fn group(
        &mut self,
        ocb: &Ocb,
        blocks: &mut [[u8; BLOCK_LEN]],
        cipher: impl Fn(&Aes128, &mut [aes::Block]),
    ) {
        let mut offsets = [0; WIDE];
        let mut work = [aes::Block::default(); WIDE];
        let work = &mut work[..blocks.len()];
        for ((block, work), offset) in blocks.iter().zip(&mut *work).zip(&mut offsets) {
            self.index += 1;
            self.offset ^= ocb.l[self.index.trailing_zeros() as usize];
            *offset = self.offset;
            *work = (u128::from_be_bytes(*block) ^ self.offset).to_be_bytes().into();
        }
        cipher(&ocb.aes, work);
        for ((block, work), offset) in blocks.iter_mut().zip(work).zip(offsets) {
            *block = (u128::from_be_bytes((*work).into()) ^ offset).to_be_bytes();
        }
    }

    /// Encrypts or decrypts the bytes after the last whole block.
    fn rest(&mut self, ocb: &Ocb, rest: &mut [u8]) {
        self.offset ^= ocb.l_star;
        let pad = ocb.encrypt(self.offset).to_be_bytes();
        for (byte, pad) in rest.iter_mut().zip(pad) {
            *byte ^= pad;
        }
    }

    fn tag(&self, ocb: &Ocb) -> u128 {
        ocb.encrypt(self.checksum ^ self.offset ^ ocb.l_dollar)
    }
}

fn encrypt_block(aes: &Aes128, block: u128) -> u128 {
    let mut block = block.to_be_bytes().into();
    aes.encrypt_block(&mut block);
    u128::from_be_bytes(block.into())
}

/// Doubles in GF(2^128) without a branch on the key-derived top bit.
const fn double(block: u128) -> u128 {
    (block << 1) ^ ((block >> 127) * 0x87)
}

/// Returns an incomplete block as a whole one: the bytes, a one bit, then zeros.
fn padded(rest: &[u8]) -> u128 {
    let mut block = [0; BLOCK_LEN];
    block[..rest.len()].copy_from_slice(rest);
    block[rest.len()] = 0x80;
    u128::from_be_bytes(block)
}

#[cfg(test)]
mod tests;
