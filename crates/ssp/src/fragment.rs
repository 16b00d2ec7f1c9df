//! Fragments: slices of a compressed instruction, one per datagram.

use crate::error::ReceiveError;

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
    pub fn encode(&self) -> Vec<u8> {
        todo!()
    }

    /// Reads the wire form.
    ///
    /// # Errors
    ///
    /// Returns [`ReceiveError`] for fewer bytes than the header has.
    pub fn decode(bytes: &[u8]) -> Result<Self, ReceiveError> {
        let _ = bytes;
        todo!()
    }
}

/// Cuts `compressed` into fragments of at most `contents_max` bytes; at least one.
pub fn split(id: u64, compressed: &[u8], contents_max: usize) -> Vec<Fragment> {
    let _ = (id, compressed, contents_max);
    todo!()
}
