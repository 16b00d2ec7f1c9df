//! The keys of a keyboard by name, and what a terminal sends for them.

/// A key by itself or with a modifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A key that sends these bytes in every mode.
    Plain(&'static [u8]),
    /// The final byte of a cursor key, whose introducer depends on DECCKM.
    Cursor(u8),
    /// Ctrl and a character: one control character.
    Control(u8),
    /// Alt and a character: ESC, then the character.
    Alt(u8),
}

/// Keys that need more than a character. Source: xterm's *Control Sequences*, "PC-Style Function Keys".
const NAMED: [(&str, Key); 34] = [
    ("Enter", Key::Plain(b"\r")),
    ("Tab", Key::Plain(b"\t")),
    ("Space", Key::Plain(b" ")),
    ("Backspace", Key::Plain(b"\x7f")),
    ("Escape", Key::Plain(b"\x1b")),
    ("Up", Key::Cursor(b'A')),
    ("Down", Key::Cursor(b'B')),
    ("Right", Key::Cursor(b'C')),
    ("Left", Key::Cursor(b'D')),
    ("End", Key::Cursor(b'F')),
    ("Home", Key::Cursor(b'H')),
    ("Insert", Key::Plain(b"\x1b[2~")),
    ("Delete", Key::Plain(b"\x1b[3~")),
    ("PageUp", Key::Plain(b"\x1b[5~")),
    ("PageDown", Key::Plain(b"\x1b[6~")),
    ("F1", Key::Plain(b"\x1bOP")),
    ("F2", Key::Plain(b"\x1bOQ")),
    ("F3", Key::Plain(b"\x1bOR")),
    ("F4", Key::Plain(b"\x1bOS")),
    ("F5", Key::Plain(b"\x1b[15~")),
    ("F6", Key::Plain(b"\x1b[17~")),
    ("F7", Key::Plain(b"\x1b[18~")),
    ("F8", Key::Plain(b"\x1b[19~")),
    ("F9", Key::Plain(b"\x1b[20~")),
    ("F10", Key::Plain(b"\x1b[21~")),
    ("F11", Key::Plain(b"\x1b[23~")),
    ("F12", Key::Plain(b"\x1b[24~")),
    ("Ctrl-Up", Key::Plain(b"\x1b[1;5A")),
    ("Ctrl-Down", Key::Plain(b"\x1b[1;5B")),
    ("Ctrl-Right", Key::Plain(b"\x1b[1;5C")),
    ("Ctrl-Left", Key::Plain(b"\x1b[1;5D")),
    ("Shift-Tab", Key::Plain(b"\x1b[Z")),
    ("Alt-Backspace", Key::Plain(b"\x1b\x7f")),
    ("Ctrl-Space", Key::Plain(b"\0")),
];

impl Key {
    /// Returns the key called `name`: `Enter`, `Ctrl-a`, `Alt-f`, `Ctrl-Left`. `None` for an unknown name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        if let Some((_, key)) = NAMED.iter().find(|(known, _)| *known == name) {
            return Some(*key);
        }
        let (modifier, character) = name.split_once('-')?;
        let &[character @ b'!'..=b'~'] = character.as_bytes() else { return None };
        match (modifier, character.to_ascii_uppercase()) {
            ("Ctrl", letter @ b'@'..=b'_') => Some(Self::Control(letter & 0x1f)),
            ("Alt", _) => Some(Self::Alt(character)),
            _ => None,
        }
    }

    /// Returns what a terminal sends for the key, with or without application cursor keys (DECCKM).
    pub(crate) fn bytes(self, application: bool) -> Vec<u8> {
        match self {
            Self::Plain(bytes) => bytes.to_vec(),
            Self::Cursor(last) => vec![0x1b, if application { b'O' } else { b'[' }, last],
            Self::Control(byte) => vec![byte],
            Self::Alt(character) => vec![0x1b, character],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_sends_what_terminals_send() {
        for (name, normal, application) in [
            ("Enter", "\r", "\r"),
            ("Left", "\x1b[D", "\x1bOD"),
            ("Home", "\x1b[H", "\x1bOH"),
            ("Delete", "\x1b[3~", "\x1b[3~"),
            ("Ctrl-a", "\x01", "\x01"),
            ("Ctrl-A", "\x01", "\x01"),
            ("Ctrl-_", "\x1f", "\x1f"),
            ("Ctrl-[", "\x1b", "\x1b"),
            ("Alt-f", "\x1bf", "\x1bf"),
            ("Alt-F", "\x1bF", "\x1bF"),
            ("Alt--", "\x1b-", "\x1b-"),
            ("Ctrl-Left", "\x1b[1;5D", "\x1b[1;5D"),
        ] {
            let key = Key::named(name).expect(name);
            assert_eq!(key.bytes(false), normal.as_bytes(), "{name}");
            assert_eq!(key.bytes(true), application.as_bytes(), "{name}");
        }
    }

    #[test]
    fn other_words_are_no_keys() {
        for name in ["", "enter", "Ctrl-", "Ctrl-1", "Ctrl-ab", "Alt-é", "Meta-x", "F13", "a", "-"]
        {
            assert_eq!(Key::named(name), None, "{name}");
        }
    }
}
