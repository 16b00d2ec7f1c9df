//! The names of keys, and tests of the bytes that a terminal sends for them.

use super::ESC;

/// The difference between a capital letter and its control character.
pub(super) const CONTROL: u8 = 0x40;

/// Returns the index of the last ESC, where the last escape sequence begins; 0 without an ESC.
pub(super) fn sequence_start(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == ESC).unwrap_or_default()
}

/// Returns whether more bytes may turn the sequence into a [`rove_terminal::KeyEvent`].
pub(super) fn is_beginning(sequence: &[u8]) -> bool {
    let is_parameter = |byte: &u8| matches!(byte, b'0'..=b'9' | b':' | b';');
    let parameters = sequence.strip_prefix(b"\x1b[");
    sequence == b"\x1b" || parameters.is_some_and(|it| it.iter().all(is_parameter))
}

/// Returns the name of a key: a control key such as `Ctrl-^`, `Backspace`, or a printable key in quotes.
pub(super) fn key_name(key: u8) -> String {
    match key {
        0..0x20 => format!("Ctrl-{}", char::from(key + CONTROL)),
        0x7f => "Backspace".to_owned(),
        _ => quoted(key),
    }
}

/// Returns a printable key in quotes: double ones, or single ones for the key `"`.
pub(super) fn quoted(key: u8) -> String {
    let quote = if key == b'"' { '\'' } else { '"' };
    format!("{quote}{}{quote}", char::from(key))
}

/// Returns whether the key is a control character. Such an escape key works anywhere in a line.
pub(super) const fn is_control(key: u8) -> bool {
    key < 0x20 || key == 0x7f
}

/// Returns whether `byte`, typed after the escape key `key`, asks to send the escape key itself to the program.
pub(super) fn is_pass_key(key: Option<u8>, byte: Option<u8>) -> bool {
    let (Some(key), Some(byte)) = (key, byte) else {
        return false;
    };
    if key < 0x20 { byte.to_ascii_uppercase() == key + CONTROL } else { byte == key }
}
