//! Fragments: slices of a compressed instruction, one per datagram.

use crate::error::ReceiveError;

/// Bytes of a fragment's header. Source: Mosh 1.4.0 as observed, docs/wire.md.
pub const FRAGMENT_HEADER_LEN: usize = 10;

/// Maximum number of fragments of one instruction: a fragment's number has 15 bits. Source: Mosh 1.4.0, docs/wire.md.
pub const FRAGMENTS_MAX: u16 = 1 << 15;

/// The bit in the field of the fragment number that marks the last fragment.
const LAST: u16 = 1 << 15;

/// A slice of a compressed instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// The number of the instruction that the fragment belongs to.
    pub id: u64,
    /// The fragment's position in the instruction, from 0 to 32767.
    pub number: u16,
    /// Whether this is the last fragment of the instruction.
    pub last: bool,
    /// This fragment's bytes of the compressed instruction.
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

/// Cuts `compressed` into at least one fragment, each with at most `contents_max` bytes of contents.
///
/// # Panics
///
/// Panics when `contents_max` is so small that more than [`FRAGMENTS_MAX`] fragments would be needed. 128 bytes are
/// enough for everything that [`crate::wire::Codec::compress`] returns.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn header_has_these_bytes() {
        for (id, number, last, header) in [
            (1, 0, true, [0, 0, 0, 0, 0, 0, 0, 1, 0x80, 0]),
            (8, 0, false, [0, 0, 0, 0, 0, 0, 0, 8, 0, 0]),
            (u64::MAX, 0x7fff, true, [0xff; 10]),
            (0x0102_0304_0506_0708, 0x7fff, false, [1, 2, 3, 4, 5, 6, 7, 8, 0x7f, 0xff]),
        ] {
            let fragment = Fragment { id, number, last, contents: b"x".to_vec() };
            let bytes = fragment.encode();
            assert_eq!(bytes, [header.as_slice(), b"x"].concat());
            assert_eq!(Fragment::decode(&bytes), Ok(fragment));
        }
    }

    #[test]
    fn fragment_needs_a_whole_header_and_nothing_else() {
        for len in 0..FRAGMENT_HEADER_LEN {
            let truncated = ReceiveError::FragmentTruncated { len };
            assert_eq!(Fragment::decode(&[0; FRAGMENT_HEADER_LEN][..len]), Err(truncated));
        }
        let empty = Fragment { id: 0, number: 0, last: false, contents: Vec::new() };
        assert_eq!(Fragment::decode(&[0; FRAGMENT_HEADER_LEN]), Ok(empty));
    }

    #[test]
    fn all_fragments_but_the_last_are_full() {
        for (len, contents_max, lens) in [
            (0, 10, vec![0]),
            (1, 10, vec![1]),
            (10, 10, vec![10]),
            (11, 10, vec![10, 1]),
            (1878, 1214, vec![1214, 664]),
            (30, 10, vec![10, 10, 10]),
        ] {
            let fragments = split(7, &vec![0xab; len], contents_max);
            let found: Vec<_> = fragments.iter().map(|fragment| fragment.contents.len()).collect();
            assert_eq!(found, lens);
            for (number, fragment) in fragments.iter().enumerate() {
                assert_eq!((fragment.id, usize::from(fragment.number)), (7, number));
                assert_eq!(fragment.last, number + 1 == lens.len());
            }
        }
    }

    #[test]
    fn split_gives_as_many_fragments_as_there_are_numbers() {
        let fragments = split(1, &vec![0; 32768], 1);
        assert_eq!(fragments.len(), 32768);
        assert_eq!(fragments.last().map(|fragment| fragment.number), Some(32767));
    }

    #[test]
    #[should_panic(expected = "15 bits")]
    fn split_refuses_one_fragment_more() {
        split(1, &vec![0; 32769], 1);
    }

    #[test]
    #[should_panic(expected = "15 bits")]
    fn number_of_16_bits_is_not_encoded() {
        Fragment { id: 0, number: FRAGMENTS_MAX, last: false, contents: Vec::new() }.encode();
    }

    proptest! {
        #[test]
        fn decoding_any_bytes_loses_none(bytes in prop::collection::vec(any::<u8>(), 10..64)) {
            prop_assert_eq!(Fragment::decode(&bytes).unwrap().encode(), bytes);
        }
    }
}
