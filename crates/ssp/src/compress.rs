//! zlib around whole instructions, with states that are reset and never rebuilt.

use crate::error::{ReceiveError, SendError};

/// Compresses and inflates the instructions of one end.
pub struct Codec {
    _stub: (),
}

impl Codec {
    /// Creates the two zlib states (level 6).
    pub fn new() -> Self {
        todo!()
    }

    /// Compresses a serialized instruction.
    ///
    /// # Errors
    ///
    /// Returns [`SendError`] when it is larger than a receiver accepts.
    pub fn compress(&mut self, plain: &[u8]) -> Result<Vec<u8>, SendError> {
        let _ = plain;
        todo!()
    }

    /// Inflates a compressed instruction to at most 4 MiB.
    ///
    /// # Errors
    ///
    /// Returns [`ReceiveError`] for a stream that is broken, cut short or too large.
    pub fn inflate(&mut self, compressed: &[u8]) -> Result<Vec<u8>, ReceiveError> {
        let _ = compressed;
        todo!()
    }
}
