//! A key that the program does not get: the bytes of the key, told from those of a terminal's message.

use rove_terminal::{Key, Keystrokes};

const ESC: u8 = 0x1b;

/// Longest beginning of a sequence that is a key by itself if nothing follows: `ESC [`, which is Alt-[.
const KEY_LEN: usize = 2;

/// The kind of the bytes that are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// The beginning of a key or of a message.
    Beginning,
    /// A key.
    Key,
    /// A message of the terminal: a mouse or focus report, an answer, a key released.
    Message(Vec<u8>),
    /// The beginning of a paste.
    Paste(Vec<u8>),
}

/// The bytes of a key, as far as they have come.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptKey {
    bytes: Vec<u8>,
    keystrokes: Keystrokes,
}

impl KeptKey {
    pub(super) fn push(&mut self, byte: u8) -> Kept {
        self.bytes.push(byte);
        match self.keystrokes.push(byte) {
            None => Kept::Beginning,
            Some(Key::Neutral) => Kept::Message(core::mem::take(&mut self.bytes)),
            Some(Key::PasteStart | Key::PasteEnd) => Kept::Paste(core::mem::take(&mut self.bytes)),
            Some(_) => Kept::Key,
        }
    }

    /// Returns the kind of the bytes if no other follows. A beginning of a sequence longer than a key is no key of a
    /// user.
    pub(super) fn end(mut self) -> Kept {
        let is_key = self.keystrokes.flush().is_some()
            || self.bytes.len() <= KEY_LEN
            || self.bytes.first() != Some(&ESC);
        if is_key { Kept::Key } else { Kept::Message(self.bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_all_of_its_bytes_and_a_message_is_none() {
        for (bytes, is_key) in [
            (&b"x"[..], true),
            ("\u{e9}".as_bytes(), true),
            ("\u{1f600}".as_bytes(), true),
            (b"\x1b[A", true),
            (b"\x1b[1;5A", true),
            (b"\x1bOP", true),
            (b"\x1b[[A", true),
            (b"\x1bx", true),
            (b"\x1b\x1b[A", true),
            (b"\x1b[M !!", false),
            (b"\x1b[<0;3;4M", false),
            (b"\x1b[I", false),
            (b"\x1b[1;1:3A", false),
            (b"\x1b]52;c;eA==\x07", false),
            (b"\x1b[200~", false),
        ] {
            let mut key = KeptKey::default();
            let (last, beginning) = bytes.split_last().unwrap();
            for byte in beginning {
                assert_eq!(key.push(*byte), Kept::Beginning, "{}", bytes.escape_ascii());
            }
            let whole = match key.push(*last) {
                Kept::Key => None,
                Kept::Message(bytes) | Kept::Paste(bytes) => Some(bytes),
                Kept::Beginning => panic!("{} goes on", bytes.escape_ascii()),
            };
            assert_eq!(whole, (!is_key).then(|| bytes.to_vec()));
        }
    }

    #[test]
    fn a_beginning_that_nothing_follows_is_a_key_if_a_user_may_have_hit_it() {
        for (bytes, is_key) in [
            (&b"\x1b"[..], true),
            (b"\x1b[", true),
            (b"\x1b]", true),
            (b"\xc3", true),
            (b"\x1b[<0;3", false),
            (b"\x1b]52;c;eA", false),
        ] {
            let mut key = KeptKey::default();
            bytes.iter().for_each(|byte| assert_eq!(key.push(*byte), Kept::Beginning));
            let end = if is_key { Kept::Key } else { Kept::Message(bytes.to_vec()) };
            assert_eq!(key.end(), end, "{}", bytes.escape_ascii());
        }
    }
}
