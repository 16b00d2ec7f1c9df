//! Keys that arrive as control sequences: kitty's keyboard protocol and xterm's `modifyOtherKeys`.
//!
//! A terminal in one of these modes sends Ctrl-^ as `CSI 94;5u` or `CSI 27;5;94~` and not as one
//! byte. What such a sequence would have been as a byte is worked out here, and nothing else: it is
//! the program at the far end that reads it. Sources: the kitty keyboard protocol's own page; xterm's
//! ctlseqs, "Alt and Meta Keys"; the byte for a key held with Ctrl is kitty's table of legacy keys.

const ESC: u8 = 0x1b;

/// Longest sequence read as a key. Chosen: the longest a single key is known to need is 45, for a key
/// with both alternates, all modifiers and its text.
const SEQUENCE_MAX: usize = 64;

/// Modifiers: a number one above the sum of these.
const SHIFT: u32 = 1;
const CTRL: u32 = 4;
/// Caps Lock and Num Lock, which change nothing of what is read here.
const LOCKS: u32 = 64 | 128;

/// Key codes of the modifier keys themselves, and of the locks. Source: kitty's table of functional
/// keys.
const MODIFIER_KEYS: [core::ops::RangeInclusive<u32>; 2] = [57_358..=57_360, 57_441..=57_454];

/// What Shift makes of keys on a US keyboard, for terminals that do not say what it made.
const SHIFTED: [&[u8]; 2] = [b"`1234567890-=[]\\;',./", b"~!@#$%^&*()_+{}|:\"<>?"];

/// What Ctrl makes of keys beside those from `@` to `_`.
const CONTROLLED: [&[u8]; 2] = [b" 2345678/?", b"\x00\x00\x1b\x1c\x1d\x1e\x1f\x7f\x1f\x7f"];

/// What bytes from a keyboard are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// The beginning of what may be a key.
    Beginning,
    /// This key.
    Key(KeyEvent),
    /// Something else, in part or whole.
    Other,
}

/// A key that arrived as a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyEvent {
    /// Pressed or repeated: what it would be as a byte, where it would be one.
    Press(Option<u8>),
    /// No key was hit: one was released, or a modifier moved.
    Silent,
}

/// Reads bytes that begin with ESC.
pub(crate) fn read(bytes: &[u8]) -> Reading {
    let [ESC, rest @ ..] = bytes else {
        return Reading::Other;
    };
    let [b'[', rest @ ..] = rest else {
        return if rest.is_empty() { Reading::Beginning } else { Reading::Other };
    };
    let is_parameter = |byte: &u8| matches!(byte, b'0'..=b'9' | b':' | b';');
    let len = rest.iter().take_while(|byte| is_parameter(byte)).count();
    let event = match rest[len..] {
        [] if bytes.len() < SEQUENCE_MAX => return Reading::Beginning,
        [b'u'] => kitty_key(&rest[..len]),
        [b'~'] => other_key(&rest[..len]),
        _ => None,
    };
    event.map_or(Reading::Other, Reading::Key)
}

/// Reads `code:shifted:base;modifiers:event;text`; all but the code may be missing.
fn kitty_key(parameters: &[u8]) -> Option<KeyEvent> {
    let mut fields = parameters.split(|&byte| byte == b';').map(subfields);
    let [code, shifted, base] = fields.next()?;
    let [modifiers, kind, _] = fields.next().unwrap_or_default();
    let [text, more_text, _] = fields.next().unwrap_or_default();
    let code = code?;
    let is_modifier = MODIFIER_KEYS.iter().any(|keys| keys.contains(&code));
    if is_modifier || kind == Some(3) {
        return Some(KeyEvent::Silent);
    }
    let modifiers = modifiers.unwrap_or(1).saturating_sub(1) & !LOCKS;
    // On a keyboard of another script Ctrl goes by what the key is on a US one.
    let code = base.filter(|_| code >= 128).unwrap_or(code);
    let text = text.filter(|_| more_text.is_none());
    Some(KeyEvent::Press(as_byte(code, shifted, text, modifiers)))
}

/// Reads `27;modifiers;code`.
fn other_key(parameters: &[u8]) -> Option<KeyEvent> {
    let mut fields = parameters.split(|&byte| byte == b';').map(subfields);
    let (first, modifiers, code) = (fields.next()?, fields.next()?, fields.next()?);
    if first != [Some(27), None, None] || fields.next().is_some() {
        return None;
    }
    let ([Some(modifiers), None, None], [Some(code), None, None]) = (modifiers, code) else {
        return None;
    };
    // The code is what Shift has made of the key already.
    let modifiers = modifiers.saturating_sub(1) & !LOCKS;
    Some(KeyEvent::Press(as_byte(code, Some(code), None, modifiers)))
}

/// Returns the first three numbers of a field; a number out of reason counts as none.
fn subfields(field: &[u8]) -> [Option<u32>; 3] {
    let mut numbers = field.split(|&byte| byte == b':').map(number);
    core::array::from_fn(|_| numbers.next().flatten())
}

fn number(digits: &[u8]) -> Option<u32> {
    str::from_utf8(digits).ok()?.parse().ok()
}

/// Returns what a key would be as a byte. One held with Alt or Super would be none, or more than one.
fn as_byte(code: u32, shifted: Option<u32>, text: Option<u32>, modifiers: u32) -> Option<u8> {
    if modifiers & !(SHIFT | CTRL) != 0 {
        return None;
    }
    let ascii = |code: u32| u8::try_from(code).ok().filter(u8::is_ascii);
    let key = ascii(code)?;
    let typed =
        if modifiers & SHIFT == 0 { key } else { shifted.map_or(Some(with_shift(key)), ascii)? };
    Some(match modifiers & CTRL {
        0 => text.and_then(ascii).unwrap_or(typed),
        // Ctrl-Shift-6 is Ctrl-^ on a US keyboard, and Ctrl-6 is the same byte.
        _ => with_ctrl(typed),
    })
}

fn with_shift(key: u8) -> u8 {
    translated(SHIFTED, key).unwrap_or(key.to_ascii_uppercase())
}

fn with_ctrl(key: u8) -> u8 {
    match key {
        b'@'..=b'_' | b'a'..=b'z' => key & 0x1f,
        _ => translated(CONTROLLED, key).unwrap_or(key),
    }
}

fn translated([from, to]: [&[u8]; 2], key: u8) -> Option<u8> {
    let at = from.iter().position(|&byte| byte == key)?;
    to.get(at).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(byte: u8) -> Reading {
        Reading::Key(KeyEvent::Press(Some(byte)))
    }

    #[test]
    fn keys_are_what_they_would_be_as_bytes() {
        let nothing = Reading::Key(KeyEvent::Press(None));
        let table: [(&str, Reading); 33] = [
            // Ctrl-^ in every form.
            ("94;5u", press(0x1e)),
            ("94;6u", press(0x1e)),
            ("54;5u", press(0x1e)),
            ("54;6u", press(0x1e)),
            ("54:94;6u", press(0x1e)),
            ("54:94:54;6:1u", press(0x1e)),
            ("94::54;5:2u", press(0x1e)),
            ("54;70u", press(0x1e)),
            ("54;198;u", press(0x1e)),
            ("27;5;94~", press(0x1e)),
            ("27;6;94~", press(0x1e)),
            ("27;6;54~", press(0x1e)),
            // The other script's key where a US keyboard has Z.
            ("1103::122;5u", press(0x1a)),
            ("122;5u", press(0x1a)),
            ("90;5u", press(0x1a)),
            ("108;5u", press(0x0c)),
            ("27;5;108~", press(0x0c)),
            ("46u", press(b'.')),
            ("46;1:1u", press(b'.')),
            ("46;5u", press(b'.')),
            ("27;5;46~", press(b'.')),
            ("59:46;2u", press(b'.')),
            ("59;2;46u", press(b'.')),
            ("96;2u", press(b'~')),
            ("97;2u", press(b'A')),
            ("97;;98u", press(b'b')),
            ("13u", press(b'\r')),
            ("27u", press(0x1b)),
            ("94;7u", nothing),
            ("94;13u", nothing),
            ("233;5u", nothing),
            ("57376u", nothing),
            ("4294967295;4294967295u", nothing),
        ];
        for (body, reading) in table {
            assert_eq!(read(format!("\x1b[{body}").as_bytes()), reading, "{body}");
        }
    }

    #[test]
    fn releases_and_modifiers_are_no_key_hit() {
        for body in ["94;5:3u", "46;1:3u", "57442;5u", "57448;1:3u", "57358u", "97;1:3;97u"] {
            let silent = Reading::Key(KeyEvent::Silent);
            assert_eq!(read(format!("\x1b[{body}").as_bytes()), silent, "{body}");
        }
    }

    #[test]
    fn other_sequences_are_told_at_the_first_byte_that_no_key_has() {
        let others: [&[u8]; 16] = [
            b"x",
            b"\x1bO",
            b"\x1b\x1b",
            b"\x1b[A",
            b"\x1b[1;5A",
            b"\x1b[3~",
            b"\x1b[27;5~",
            b"\x1b[27;5;94;1~",
            b"\x1b[26;5;94~",
            b"\x1b[27:1;5;94~",
            b"\x1b[?",
            b"\x1b[<",
            b"\x1b[u",
            b"\x1b[;5u",
            b"\x1b[4294967296u",
            b"\x1b[9\x1b",
        ];
        for bytes in others {
            assert_eq!(read(bytes), Reading::Other, "{bytes:?}");
        }
        let whole = b"\x1b[54:94:54;6:1;1u";
        for len in 1..whole.len() {
            assert_eq!(read(&whole[..len]), Reading::Beginning, "{len} bytes");
        }
    }

    #[test]
    fn no_sequence_is_read_beyond_its_bound() {
        let long = |len: usize| [b"\x1b[".to_vec(), vec![b'1'; len - 2]].concat();
        assert_eq!(read(&long(SEQUENCE_MAX - 1)), Reading::Beginning);
        assert_eq!(read(&long(SEQUENCE_MAX)), Reading::Other);
    }
}
