//! Reads the user's bytes as keys, with the meaning of each key to a line editor.
//!
//! Terminals encode keys in many ways. The forms are one byte, UTF-8, and `CSI` and `SS3` sequences with modifiers. An
//! ESC before a key means Alt. Other forms are kitty's keyboard protocol and xterm's `modifyOtherKeys`. Terminals also
//! send bytes that are not keys: mouse and focus reports, and answers to queries. This module distinguishes them, and
//! its callers decide the effect of a key. Sources: xterm's ctlseqs; rxvt's and the Linux console's manual pages for
//! their own function keys; the kitty keyboard protocol's own page.

mod character;
mod key;
mod sequence;

use self::character::{Decoded, Partial};
pub use self::key::Key;
use self::key::{alt_key, ascii_key};
use self::sequence::{Introducer, Sequence};

const ESC: u8 = 0x1b;

/// Longest control string (OSC, DCS, APC, PM, SOS) that is read as an answer of the terminal, in bytes. The rest of a
/// longer string is read as typed keys. Chosen: twice the longest clipboard text of a stock session.
const STRING_BYTES_MAX: u32 = 32 * 1024;

/// A key or another message of a terminal, and its length in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keystroke {
    /// The key, or the kind of message.
    pub key: Key,
    /// The length of the key in bytes. Its bytes follow those of the preceding keystroke.
    pub len: usize,
}

/// Divides the user's input into keystrokes, even if it arrives in pieces. Each byte belongs to exactly one keystroke.
#[derive(Clone, Debug, Default)]
pub struct Keystrokes {
    state: State,
    /// How many bytes were read that do not belong to a complete keystroke.
    unread: usize,
    /// The first bytes of an incomplete UTF-8 character.
    partial: Partial,
    sequence: Sequence,
}

/// The parser's state after the last byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// The next byte begins a key, or continues a UTF-8 character.
    #[default]
    Text,
    /// An ESC was read, as a key or as the first byte of a sequence.
    Escape(EscapeKind),
    /// The bytes of a `CSI` or `SS3` sequence are being read. `has_alt`: an ESC before the sequence stands for Alt.
    Sequence { has_alt: bool },
    /// `CSI [` was read. The next byte selects one of the Linux console's keys F1 to F5.
    ConsoleFunction,
    /// `missing` characters of an old mouse report are still to come. `is_lead`: the last byte may be the first of a
    /// two-byte character.
    Mouse { missing: u8, is_lead: bool },
    /// A control string is being read, of which `bytes` bytes were read so far.
    String { bytes: u32 },
    /// An ESC was read in a control string. It may begin the string's end.
    StringEscape,
}

/// The possible meanings of an ESC that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EscapeKind {
    /// The ESC is the Escape key, or the first byte of any sequence.
    First,
    /// The ESC follows another. It means Alt with the next key, as rxvt and others send it, or a second Escape key.
    Doubled,
    /// The ESC was already reported as the Escape key, because no byte followed immediately.
    Told,
}

impl Keystrokes {
    /// Handles one byte. Returns the keystroke that the byte completes, if any.
    ///
    /// Bytes that form no key become [`Key::Other`]. They include the byte that shows this, unless it begins a key.
    pub fn push(&mut self, byte: u8) -> Option<Keystroke> {
        self.unread += 1;
        let key = self.read(byte)?;
        // These bytes already belong to the next key.
        let rest = match self.state {
            State::Escape(EscapeKind::First) => 1,
            State::Escape(EscapeKind::Doubled) => 2,
            _ => usize::from(!self.partial.is_empty()),
        };
        debug_assert!(rest < self.unread, "a key has a byte");
        Some(Keystroke { key, len: core::mem::replace(&mut self.unread, rest) - rest })
    }

    fn read(&mut self, byte: u8) -> Option<Key> {
        match self.state {
            State::Text => self.push_in_text(byte),
            State::Escape(kind) => self.push_after_escape(kind, byte),
            State::Sequence { has_alt } => self.push_in_sequence(has_alt, byte),
            State::ConsoleFunction if byte == ESC => self.begin_escape(EscapeKind::First),
            State::ConsoleFunction => Some(self.end(Key::Other)),
            State::Mouse { missing, is_lead } => self.push_in_mouse(missing, is_lead, byte),
            State::String { bytes } => self.push_in_string(bytes, byte),
            State::StringEscape if byte == b'\\' => Some(self.end(Key::Neutral)),
            State::StringEscape => self.push_after_escape(EscapeKind::First, byte),
        }
    }

    /// Handles the end of a read. Returns the key that the last bytes form, if any. These bytes may also begin a longer
    /// sequence, but terminals write a sequence at once.
    pub fn flush(&mut self) -> Option<Keystroke> {
        // The following bytes may show that the ESC begins a sequence after all. They are then read as its rest.
        let told = State::Escape(EscapeKind::Told);
        let (key, state) = match self.state {
            State::Escape(EscapeKind::First) => (Key::Escape, told),
            State::Escape(EscapeKind::Doubled) => (Key::Other, told),
            // The bytes are Alt with `]`, `P`, `X`, `^` or `_`. Alt-[ and Alt-O wait for the next byte. Cut cursor keys
            // are more frequent than these, and their rest must not be read as text.
            State::String { bytes: 0 } => (Key::Other, State::Text),
            _ => return None,
        };
        self.state = state;
        Some(Keystroke { key, len: core::mem::take(&mut self.unread) })
    }

    /// Returns whether the last bytes are an incomplete key.
    pub fn is_within_key(&self) -> bool {
        let is_between = matches!(self.state, State::Text | State::Escape(EscapeKind::Told));
        !is_between || !self.partial.is_empty()
    }

    /// Returns `key`, and sets the state in which any key may begin.
    fn end(&mut self, key: Key) -> Key {
        self.state = State::Text;
        key
    }

    fn begin_escape(&mut self, kind: EscapeKind) -> Option<Key> {
        self.state = State::Escape(kind);
        None
    }

    fn push_in_text(&mut self, byte: u8) -> Option<Key> {
        if byte == ESC {
            let is_cut = !self.partial.is_empty();
            self.partial = Partial::default();
            self.state = State::Escape(EscapeKind::First);
            return is_cut.then_some(Key::Other);
        }
        if self.partial.is_empty() && byte.is_ascii() {
            return Some(ascii_key(byte));
        }
        match self.partial.push(byte) {
            Decoded::Incomplete => None,
            Decoded::Character(c) if !c.is_control() => Some(Key::Text(c)),
            Decoded::Character(_) | Decoded::AltCharacter | Decoded::Malformed => Some(Key::Other),
        }
    }

    fn push_after_escape(&mut self, kind: EscapeKind, byte: u8) -> Option<Key> {
        let has_alt = kind == EscapeKind::Doubled;
        match (byte, kind) {
            (ESC, EscapeKind::First) => self.begin_escape(EscapeKind::Doubled),
            (ESC, EscapeKind::Told) => self.begin_escape(EscapeKind::First),
            (ESC, EscapeKind::Doubled) => Some(Key::Escape),
            (b'[', _) => self.begin_sequence(Introducer::Csi, has_alt),
            // An `O` typed after the Escape key is text: in vi it opens a line.
            (_, EscapeKind::Told) => {
                self.state = State::Text;
                self.push_in_text(byte)
            }
            (b'O', _) => self.begin_sequence(Introducer::SingleShift, has_alt),
            (b']' | b'P' | b'X' | b'^' | b'_', EscapeKind::First) => {
                self.state = State::String { bytes: 0 };
                None
            }
            (0x80.., _) => {
                self.state = State::Text;
                self.partial = Partial::held_with_alt();
                self.push_in_text(byte)
            }
            (_, EscapeKind::Doubled) => Some(self.end(Key::Other)),
            (_, EscapeKind::First) => Some(self.end(alt_key(byte))),
        }
    }

    fn begin_sequence(&mut self, introducer: Introducer, has_alt: bool) -> Option<Key> {
        self.sequence = Sequence::new(introducer);
        self.state = State::Sequence { has_alt };
        None
    }

    fn push_in_sequence(&mut self, has_alt: bool, byte: u8) -> Option<Key> {
        let begins_csi = self.sequence.is_empty() && self.sequence.is_csi();
        match byte {
            ESC => self.begin_escape(EscapeKind::First),
            b'[' if begins_csi => {
                self.state = State::ConsoleFunction;
                None
            }
            b'M' if begins_csi => {
                self.state = State::Mouse { missing: 3, is_lead: false };
                None
            }
            _ => {
                let key = self.sequence.push(byte, has_alt)?;
                Some(self.end(key))
            }
        }
    }

    /// Handles a byte of an old mouse report: the button and two coordinates, each sent as its value plus 32. A value
    /// is one byte, or from 128 on a two-byte character if the program has requested UTF-8 (mode 1005). Two bytes that
    /// can form such a character are read as one value. They could also be a column and a row beyond 95, but windows of
    /// this height are rarer than mode 1005. The row comes last, and is read as one byte.
    fn push_in_mouse(&mut self, missing: u8, is_lead: bool, byte: u8) -> Option<Key> {
        match byte {
            ESC => return self.begin_escape(EscapeKind::First),
            ..0x20 => return Some(self.end(Key::Other)),
            _ => {}
        }
        let continues = is_lead && matches!(byte, 0x80..=0xbf);
        let missing = missing - u8::from(!continues);
        if missing == 0 {
            return Some(self.end(Key::Neutral));
        }
        self.state = State::Mouse { missing, is_lead: matches!(byte, 0xc2..=0xdf) };
        None
    }

    fn push_in_string(&mut self, bytes: u32, byte: u8) -> Option<Key> {
        match byte {
            0x07 => Some(self.end(Key::Neutral)),
            ESC => {
                self.state = State::StringEscape;
                None
            }
            // Answers never contain this byte, so the user is typing, and began with Alt-] or a similar key.
            ..0x20 | 0x7f => Some(self.end(Key::Other)),
            _ if bytes == STRING_BYTES_MAX => Some(self.end(Key::Other)),
            _ => {
                self.state = State::String { bytes: bytes + 1 };
                None
            }
        }
    }
}

#[cfg(test)]
mod tests;
