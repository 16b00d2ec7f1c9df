//! Reads a file or a pipe up to a limit.

use std::io::{self, Read};

/// Reads at most `bytes_max` bytes.
///
/// # Errors
///
/// Returns the error of the first read that fails.
pub(crate) fn read(from: impl Read, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(bytes_max).read_to_end(&mut bytes)?;
    debug_assert!(bytes.len() as u64 <= bytes_max, "no more is read than the limit");
    Ok(bytes)
}

/// Reads all bytes.
///
/// # Errors
///
/// Returns an error if there are more than `bytes_max` bytes, or a read fails.
pub(crate) fn read_whole(from: impl Read, bytes_max: u64) -> io::Result<Vec<u8>> {
    let bytes = read(from, bytes_max + 1)?;
    if bytes.len() as u64 > bytes_max {
        return Err(io::Error::other(format!("it is larger than {bytes_max} bytes")));
    }
    Ok(bytes)
}
