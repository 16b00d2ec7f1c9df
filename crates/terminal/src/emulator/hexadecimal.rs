//! Bytes written as pairs of hexadecimal digits.

/// Decodes pairs of hexadecimal digits to bytes. `None` if `digits` does not consist of such pairs.
pub(crate) fn decoded(digits: &str) -> Option<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let (pairs, rest) = digits.as_bytes().as_chunks();
    let byte = |&[high, low]: &[u8; 2]| u8::try_from(digit(high)? * 16 + digit(low)?).ok();
    pairs.iter().map(byte).collect::<Option<Vec<u8>>>().filter(|_| rest.is_empty())
}

/// Returns the bytes of `text` as pairs of hexadecimal digits.
pub(crate) fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02X}")).collect()
}
