//! The names of keys, as the help and the hints have them.

/// The difference between a capital letter and its control character.
pub(super) const CONTROL: u8 = 0x40;

/// Returns the name of a key: `Ctrl-^` or its like, `Backspace`, or a printable key in quotes.
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
