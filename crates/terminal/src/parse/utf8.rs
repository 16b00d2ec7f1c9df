//! UTF-8: finds runs of text, and decodes single characters, which may be malformed.

/// Returns the length of the printable ASCII text at the start of `bytes`.
pub(super) fn ascii_len(bytes: &[u8]) -> usize {
    len_before(bytes, |byte| !(0x20..=0x7e).contains(&byte))
}

/// Returns the number of bytes before the first C0 or C1 control or DEL. Without one, returns the length.
pub(super) fn text_len(bytes: &[u8]) -> usize {
    let suspect = |byte| (byte < 0x20) | (byte == 0x7f) | (byte == 0xc2);
    let mut at = len_before(bytes, suspect);
    while bytes.get(at) == Some(&0xc2) && !matches!(bytes.get(at + 1), Some(0x80..=0x9f)) {
        at += 1 + len_before(&bytes[at + 1..], suspect);
    }
    at
}

/// Returns the number of bytes before the first for which `wanted` is true. Without one, returns the length.
///
/// The loop tests sixteen bytes at once. The compiler turns this loop into a vector comparison. For this, the loop must
/// have no exit in its middle, and `wanted` no `||`.
fn len_before(bytes: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    let any = |chunk: &&[u8]| {
        chunk.iter().map(|byte| u8::from(wanted(*byte))).fold(0, |any, one| any | one) != 0
    };
    let without = 16 * bytes.chunks_exact(16).take_while(|chunk| !any(chunk)).count();
    let rest = &bytes[without..];
    without + rest.iter().position(|byte| wanted(*byte)).unwrap_or(rest.len())
}

/// Decodes the first character. Returns the character and its length in bytes. `None` if the character is incomplete.
///
/// A maximal subpart of an ill-formed sequence becomes U+FFFD (Unicode, section 3.9, table 3-8).
pub(super) fn decode(bytes: &[u8]) -> Option<(char, usize)> {
    let first = *bytes.first()?;
    if first < 0x80 {
        return Some((char::from(first), 1));
    }
    let head = &bytes[..bytes.len().min(4)];
    let (valid, error_len) = match core::str::from_utf8(head) {
        Ok(text) => (text, None),
        Err(error) => (head.utf8_chunks().next()?.valid(), error.error_len()),
    };
    match valid.chars().next() {
        Some(c) => Some((c, c.len_utf8())),
        None => error_len.map(|len| (char::REPLACEMENT_CHARACTER, len)),
    }
}
