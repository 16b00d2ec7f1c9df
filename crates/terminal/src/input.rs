//! The user's bytes as keys, each with its bytes: the meaning of each to a line editor.
//!
//! Terminals spell keys in many ways: one byte, UTF-8, `CSI` and `SS3` sequences with modifiers, ESC before what Alt is
//! held with, the keyboard protocol of kitty and xterm's `modifyOtherKeys`. They also send bytes that are no keys:
//! mouse and focus reports, and answers to programs. This module tells all of them apart; the effect of a key is for
//! the models. Sources: xterm's ctlseqs; rxvt's and the Linux console's manual pages for their own function keys; the
//! kitty keyboard protocol's own page.

mod character;
mod key;
mod sequence;

use self::character::{Decoded, Partial};
pub use self::key::Key;
use self::key::{alt_key, ascii_key};
use self::sequence::{Introducer, Sequence};

const ESC: u8 = 0x1b;

/// Longest string (OSC, DCS, APC, PM, SOS) that is taken for an answer, in bytes; the rest of a longer one
/// counts as typed. Chosen: twice the longest text that a terminal's clipboard holds in a stock session.
const STRING_BYTES_MAX: u32 = 32 * 1024;

/// A key, or another message of a terminal, with its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keystroke {
    /// The meaning of the bytes.
    pub key: Key,
    /// The number of its bytes: the oldest bytes that belong to no earlier keystroke.
    pub len: usize,
}

/// Reads keys out of bytes, cut anywhere. Each byte belongs to one keystroke.
#[derive(Clone, Debug, Default)]
pub struct Keystrokes {
    state: State,
    /// How many bytes belong to no keystroke yet.
    unread: usize,
    /// The beginning of a character.
    partial: Partial,
    sequence: Sequence,
}

/// The meaning of the bytes before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Nothing, or the beginning of a character.
    #[default]
    Text,
    /// After ESC.
    Escape(EscapeKind),
    /// In a sequence, held with Alt if there was an ESC before it.
    Sequence { has_alt: bool },
    /// After `CSI [`: the Linux console's F1 to F5 have one more byte.
    ConsoleFunction,
    /// In the three characters of an old mouse report; the last byte may be the first of two.
    Mouse { missing: u8, is_lead: bool },
    /// In a string of so many bytes as yet.
    String { bytes: u32 },
    /// After ESC in a string.
    StringEscape,
}

/// The sequences that an ESC may still begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EscapeKind {
    /// The key, or the beginning of anything.
    First,
    /// Held with Alt, as rxvt and others send it, or the key twice.
    Doubled,
    /// Known to be the key, as nothing followed at once.
    Told,
}

impl Keystrokes {
    /// Handles a byte; returns the key that ends with it.
    ///
    /// Bytes that make no key become [`Key::Other`], together with the byte that shows it.
    pub fn push(&mut self, byte: u8) -> Option<Keystroke> {
        self.unread += 1;
        let key = self.read(byte)?;
        // The bytes that begin the next key.
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

    /// Called when a read ends here. Returns the key that its last bytes are, if they are one that is also the
    /// beginning of something longer: a terminal writes a sequence at once, so this is a key by itself.
    pub fn flush(&mut self) -> Option<Keystroke> {
        // Should ESC be half a sequence all the same, the rest is still read as one.
        let told = State::Escape(EscapeKind::Told);
        let (key, state) = match self.state {
            State::Escape(EscapeKind::First) => (Key::Escape, told),
            State::Escape(EscapeKind::Doubled) => (Key::Other, told),
            // Alt-], for instance. Alt-[ and Alt-O are told with the next byte: they are rarer than a cursor
            // key cut in two, whose rest must not count as text.
            State::String { bytes: 0 } => (Key::Other, State::Text),
            _ => return None,
        };
        self.state = state;
        Some(Keystroke { key, len: core::mem::take(&mut self.unread) })
    }

    /// Returns whether the last bytes are the beginning of a key.
    #[cfg(test)]
    pub(crate) fn is_within_key(&self) -> bool {
        let is_between = matches!(self.state, State::Text | State::Escape(EscapeKind::Told));
        !is_between || !self.partial.is_empty()
    }

    /// Goes back to where any key may begin.
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
            // An `O` typed after the Escape key opens a line in vi.
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

    /// Handles a byte of an old mouse report: the button and two coordinates, each 32 more than it is. That is one byte, or from
    /// 128 on a character of two bytes if the program wants UTF-8 (mode 1005). The second byte of two would be the row as a byte
    /// only below row 95, and the row itself is taken for one byte: windows that high are rarer than mode 1005, and that is rare.
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
            // No answer has such a byte: the user types, and has begun with Alt.
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
