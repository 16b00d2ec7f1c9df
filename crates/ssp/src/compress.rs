//! zlib compression of whole instructions. The zlib states are allocated once, and reset for each instruction.

use core::fmt;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::error::{ReceiveError, SendError};

/// Longest serialized instruction, in bytes. Source: Mosh 1.4.0 as observed (one byte more is refused), docs/wire.md.
pub const INSTRUCTION_LEN_MAX: usize = 4_194_304;

/// Longest compressed instruction, in bytes. Source: Mosh 1.4.0, docs/wire.md.
pub const COMPRESSED_LEN_MAX: usize = 4_194_304;

/// The zlib level, as in Mosh 1.4.0. Level 1 would save 3 us per 100 bytes, but would make 1 kB a quarter larger.
const LEVEL: u32 = 6;

/// First capacity in bytes of the buffer for an inflated instruction. Chosen: a screenful, so the buffer seldom grows.
const INFLATE_ROOM: usize = 4096;

/// Bytes that the buffer for the compressed form of `n` bytes has beyond `n + n / 7`. Chosen: generous room for the
/// header, the trailer and one block's overhead. If that is too little, the buffer grows by as much again.
const DEFLATE_ROOM: usize = 64;

/// Compresses and inflates the instructions of one end, with the same zlib states for all of them.
pub struct Codec {
    deflate: Compress,
    inflate: Decompress,
}

impl Codec {
    /// Creates the two zlib states (level 6).
    pub fn new() -> Self {
        Self {
            deflate: Compress::new(Compression::new(LEVEL), true),
            inflate: Decompress::new(true),
        }
    }

    /// Compresses a serialized instruction.
    ///
    /// # Errors
    ///
    /// Returns [`SendError`] when the instruction is larger than a receiver accepts.
    pub fn compress(&mut self, plain: &[u8]) -> Result<Vec<u8>, SendError> {
        if plain.len() > INSTRUCTION_LEN_MAX {
            return Err(SendError::TooLarge { len: plain.len() });
        }
        self.deflate.reset();
        let mut out = Vec::with_capacity(plain.len() + plain.len() / 7 + DEFLATE_ROOM);
        loop {
            let rest = &plain[consumed(self.deflate.total_in())..];
            let status = self
                .deflate
                .compress_vec(rest, &mut out, FlushCompress::Finish)
                .expect("a state that was reset compresses anything");
            if status == Status::StreamEnd {
                break;
            }
            out.reserve(DEFLATE_ROOM);
        }
        if out.len() > COMPRESSED_LEN_MAX {
            return Err(SendError::TooLarge { len: out.len() });
        }
        Ok(out)
    }

    /// Inflates a compressed instruction to at most 4 MiB. Bytes after the zlib stream are ignored, as in Mosh 1.4.0.
    ///
    /// # Errors
    ///
    /// Returns [`ReceiveError`] for a stream that is broken, cut short or too large.
    pub fn inflate(&mut self, compressed: &[u8]) -> Result<Vec<u8>, ReceiveError> {
        self.inflate_within(compressed, None)
    }

    /// Inflates as [`Codec::inflate`] does, but more than `max` bytes, if given, are an error.
    pub(crate) fn inflate_within(
        &mut self,
        compressed: &[u8],
        max: Option<usize>,
    ) -> Result<Vec<u8>, ReceiveError> {
        let max = max.unwrap_or(INSTRUCTION_LEN_MAX);
        self.inflate.reset(true);
        let mut out = Vec::new();
        loop {
            if out.len() == out.capacity() {
                // The buffer doubles each time, up to one byte more than the limit.
                let room = out.len().max(INFLATE_ROOM).min(max + 1 - out.len());
                out.reserve_exact(room);
            }
            let rest = &compressed[consumed(self.inflate.total_in())..];
            let status = self
                .inflate
                .decompress_vec(rest, &mut out, FlushDecompress::Finish)
                .map_err(|_| ReceiveError::StreamBroken)?;
            if out.len() > max {
                return Err(ReceiveError::InstructionTooLarge { max });
            }
            if status == Status::StreamEnd {
                return Ok(out);
            }
            // zlib stopped although the buffer had room, so input is missing.
            if out.len() < out.capacity() {
                return Err(ReceiveError::StreamTruncated);
            }
        }
    }
}

impl Default for Codec {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Codec").finish_non_exhaustive()
    }
}

/// Converts zlib's count of consumed bytes to an index into the input.
fn consumed(total_in: u64) -> usize {
    usize::try_from(total_in).expect("no more is consumed than was given")
}

#[cfg(test)]
mod tests;
