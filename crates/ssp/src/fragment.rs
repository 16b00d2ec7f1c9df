//! Fragments: slices of a compressed instruction, one per datagram.

use crate::error::ReceiveError;

/// Bytes of a fragment's header.
/// Source: Mosh 1.4.0 as observed, docs/wire.md.
pub const FRAGMENT_HEADER_LEN: usize = 10;

/// Most fragments of one instruction: their numbers have 15 bits.
/// Source: Mosh 1.4.0, docs/wire.md.
pub const FRAGMENTS_MAX: u16 = 1 << 15;

/// The bit beside the number that marks the last fragment.
const LAST: u16 = 1 << 15;

/// One slice of a compressed instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Which instruction it belongs to.
    pub id: u64,
    /// Its place, from 0, below 32768.
    pub number: u16,
    /// Whether it is the last one.
    pub last: bool,
    /// The slice.
    pub contents: Vec<u8>,
}

impl Fragment {
    /// Returns the wire form: a 10-byte header, then the contents.
    ///
    /// # Panics
    ///
    /// Panics when `number` has more than 15 bits.
    pub fn encode(&self) -> Vec<u8> {
        assert!(self.number < FRAGMENTS_MAX, "a fragment number has 15 bits");
        let mut bytes = Vec::with_capacity(FRAGMENT_HEADER_LEN + self.contents.len());
        bytes.extend(self.id.to_be_bytes());
        bytes.extend((self.number | if self.last { LAST } else { 0 }).to_be_bytes());
        bytes.extend(&self.contents);
        bytes
    }

    /// Reads the wire form.
    ///
    /// # Errors
    ///
    /// Returns [`ReceiveError`] for fewer bytes than the header has.
    pub fn decode(bytes: &[u8]) -> Result<Self, ReceiveError> {
        let truncated = ReceiveError::FragmentTruncated { len: bytes.len() };
        let Some((id, rest)) = bytes.split_first_chunk() else { return Err(truncated) };
        let Some((number, contents)) = rest.split_first_chunk() else { return Err(truncated) };
        let number = u16::from_be_bytes(*number);
        Ok(Self {
            id: u64::from_be_bytes(*id),
            number: number & !LAST,
            last: number & LAST != 0,
            contents: contents.to_vec(),
        })
    }
}

/// Cuts `compressed` into fragments of at most `contents_max` bytes; at least one.
///
/// # Panics
///
/// Panics when `contents_max` is so small that more than [`FRAGMENTS_MAX`] fragments would be
/// needed; 128 bytes are enough for everything that [`crate::wire::Codec::compress`] returns.
pub fn split(id: u64, compressed: &[u8], contents_max: usize) -> Vec<Fragment> {
    assert!(contents_max > 0, "a fragment has room for contents");
    let count = compressed.len().div_ceil(contents_max).max(1);
    assert!(count <= usize::from(FRAGMENTS_MAX), "a fragment number has 15 bits");
    (0..FRAGMENTS_MAX)
        .zip(0..count)
        .map(|(number, index)| {
            let rest = &compressed[index * contents_max..];
            let contents = &rest[..rest.len().min(contents_max)];
            Fragment { id, number, last: index + 1 == count, contents: contents.to_vec() }
        })
        .collect()
}
