//! Reads the user's choice of escape key, which makes the next key a command to the client.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The escape key of a user who has chosen none: Ctrl-^. Source: Mosh 1.4.0 as observed.
pub(crate) const DEFAULT_ESCAPE_KEY: u8 = 0x1e;

/// Keys that cannot be the escape key, because users need them: Ctrl-C, Ctrl-D, Ctrl-J, Ctrl-L and Ctrl-M.
/// Source: Mosh 1.4.0 as observed.
const REFUSED: [u8; 5] = [0x03, 0x04, 0x0a, 0x0c, 0x0d];

/// The first byte of arrow keys, function keys and pastes. ESC as escape key would break these keys: ESC and `[` would
/// send only ESC, and the `[` would be lost.
const ESC: u8 = 0x1b;

/// The reason why a key cannot be the escape key; it holds the user's text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EscapeKeyError {
    #[error(
        "{0} cannot be the escape key: C-c, C-d, C-j, C-l and C-m are needed for themselves, and C-[ begins other keys"
    )]
    Needed(String),
    #[error(
        "{0} is not an escape key: write ^X or C-X for a control key, a single ASCII character, or none"
    )]
    Unreadable(String),
}

/// Reads `MOSH_ESCAPE_KEY` by Mosh's rules. An empty variable means no escape key, and one usable byte is the key. If
/// the variable is unset or has another value, returns [`DEFAULT_ESCAPE_KEY`].
pub(crate) fn from_environment() -> Option<u8> {
    from_variable(std::env::var_os("MOSH_ESCAPE_KEY").as_deref())
}

fn from_variable(value: Option<&OsStr>) -> Option<u8> {
    match value.map(OsStrExt::as_bytes) {
        None => Some(DEFAULT_ESCAPE_KEY),
        Some([]) => None,
        Some(&[key]) if is_usable(key) => Some(key),
        Some(_) => Some(DEFAULT_ESCAPE_KEY),
    }
}

/// Reads the value of `--escape-key`: `^]`, `C-]`, `Ctrl-]` or a single character. `None` for the text `none` and for
/// an empty text, which mean no escape key.
pub(crate) fn from_option(text: &str) -> Result<Option<u8>, EscapeKeyError> {
    if text.is_empty() || text.eq_ignore_ascii_case("none") {
        return Ok(None);
    }
    let control = ["^", "C-", "c-", "Ctrl-", "ctrl-", "Ctrl+", "ctrl+"]
        .into_iter()
        .find_map(|prefix| text.strip_prefix(prefix).filter(|rest| !rest.is_empty()));
    // Quotes and backslashes may be keys, so they are not escaped.
    let shown = text.replace(char::is_control, "?");
    let key = match (control.map(str::as_bytes), text.as_bytes()) {
        (Some(b"?"), _) => Some(0x7f),
        (Some(&[letter @ 0x40..=0x7e]), _) => Some(letter & 0x1f).filter(|&key| key != 0),
        (None, &[key]) => Some(key),
        _ => None,
    };
    match key {
        Some(key) if is_usable(key) && key != ESC => Ok(Some(key)),
        Some(_) => Err(EscapeKeyError::Needed(shown)),
        None => Err(EscapeKeyError::Unreadable(shown)),
    }
}

const fn is_usable(key: u8) -> bool {
    let mut refused = 0;
    while refused < REFUSED.len() {
        if REFUSED[refused] == key {
            return false;
        }
        refused += 1;
    }
    key >= 1 && key <= 127
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_read_by_stocks_rules() {
        for (value, key) in [
            (None, Some(DEFAULT_ESCAPE_KEY)),
            (Some(&b""[..]), None),
            (Some(b"\x1d"), Some(0x1d)),
            (Some(b"~"), Some(b'~')),
            (Some(b"\x7f"), Some(0x7f)),
            (Some(b"\x1b"), Some(0x1b)),
            (Some(b"\x80"), Some(DEFAULT_ESCAPE_KEY)),
            (Some(b"\x03"), Some(DEFAULT_ESCAPE_KEY)),
            (Some(b"\x04"), Some(DEFAULT_ESCAPE_KEY)),
            (Some(b"\n"), Some(DEFAULT_ESCAPE_KEY)),
            (Some(b"\x0c"), Some(DEFAULT_ESCAPE_KEY)),
            (Some(b"\r"), Some(DEFAULT_ESCAPE_KEY)),
            (Some(b"^]"), Some(DEFAULT_ESCAPE_KEY)),
        ] {
            assert_eq!(from_variable(value.map(OsStr::from_bytes)), key, "{value:?}");
        }
    }

    #[test]
    fn the_option_takes_the_spellings_people_write() {
        for (text, key) in [
            ("^]", Some(0x1d)),
            ("C-]", Some(0x1d)),
            ("c-b", Some(0x02)),
            ("^B", Some(0x02)),
            ("Ctrl-^", Some(0x1e)),
            ("ctrl+a", Some(0x01)),
            ("^?", Some(0x7f)),
            ("^", Some(b'^')),
            ("~", Some(b'~')),
            ("C", Some(b'C')),
            ("\x1d", Some(0x1d)),
            ("none", None),
            ("", None),
        ] {
            assert_eq!(from_option(text), Ok(key), "{text:?}");
        }
        for text in ["^C", "C-m", "^[", "^@", "F1", "^]x", "é", "C-é", "C- ", "'\\x'"] {
            let sentence = from_option(text).unwrap_err().to_string();
            assert!(sentence.starts_with(text) && !sentence.contains('"'), "{sentence}");
        }
    }
}
