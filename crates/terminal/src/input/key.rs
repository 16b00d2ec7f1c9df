//! The keys, by their meaning in a line editor.

/// A key or another message of a terminal, by its meaning in a line editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A printable character, of any width.
    Text(char),
    /// DEL: the Backspace key of most terminals.
    Backspace,
    /// Ctrl-H: the Backspace key of some terminals.
    ControlH,
    /// The Delete key: deletes the character under the cursor.
    Delete,
    /// Ctrl-D: deletes the character under the cursor, or ends the input on an empty line.
    ControlD,
    /// The cursor key to the left.
    Left,
    /// The cursor key to the right.
    Right,
    /// Ctrl-B: one character left. Also the prefix key of tmux.
    ControlB,
    /// Ctrl-F: one character right.
    ControlF,
    /// Ctrl-Left, Alt-Left or Alt-b: one word left.
    WordLeft,
    /// Ctrl-Right, Alt-Right or Alt-f: one word right.
    WordRight,
    /// The Home key: the start of the line.
    Home,
    /// The End key: the end of the line.
    End,
    /// Ctrl-A: the start of the line. Also the prefix key of screen.
    ControlA,
    /// Ctrl-E: the end of the line.
    ControlE,
    /// Ctrl-K: deletes to the end of the line.
    KillToEnd,
    /// Ctrl-U: deletes the whole line, or all to the left of the cursor.
    KillLine,
    /// Ctrl-W: deletes back to the last blank.
    KillWord,
    /// Alt-Backspace or Ctrl-Backspace: deletes back to the start of a word. Words end at more characters than for
    /// Ctrl-W.
    KillWordLeft,
    /// Alt-d or Ctrl-Delete: deletes to the end of a word.
    KillWordRight,
    /// CR: the Enter key.
    Enter,
    /// LF, which Ctrl-J sends.
    LineFeed,
    /// The Tab key.
    Tab,
    /// The cursor key up.
    Up,
    /// The cursor key down.
    Down,
    /// Ctrl-P: in most programs the same as the cursor key up.
    ControlP,
    /// Ctrl-N: in most programs the same as the cursor key down.
    ControlN,
    /// Ctrl-R or Ctrl-S: starts a search in the history.
    Search,
    /// Ctrl-L: in most programs clears or redraws the screen.
    ControlL,
    /// Ctrl-C: interrupts the program.
    Interrupt,
    /// The Escape key by itself.
    Escape,
    /// The Insert key.
    Insert,
    /// The start of a bracketed paste: the next bytes are pasted.
    PasteStart,
    /// The end of a bracketed paste.
    PasteEnd,
    /// A message that is no key press: a mouse or focus report, or an answer. Also a key release, or a modifier key.
    Neutral,
    /// Any other key, and bytes that form no key.
    Other,
}

impl Key {
    /// Returns the meaning of this key with Alt, or after the Escape key, which has the same effect.
    #[must_use]
    pub fn with_alt(self) -> Self {
        match self {
            Self::Text(c) => u8::try_from(c).map_or(Self::Other, alt_key),
            Self::Backspace | Self::ControlH => Self::KillWordLeft,
            Self::Left => Self::WordLeft,
            Self::Right => Self::WordRight,
            Self::Enter | Self::LineFeed | Self::Interrupt | Self::PasteStart => self,
            _ => Self::Other,
        }
    }
}

/// Returns the key of an ASCII byte other than ESC.
pub(super) fn ascii_key(byte: u8) -> Key {
    match byte {
        b' '..=b'~' => Key::Text(char::from(byte)),
        0x01 => Key::ControlA,
        0x02 => Key::ControlB,
        0x03 => Key::Interrupt,
        0x04 => Key::ControlD,
        0x05 => Key::ControlE,
        0x06 => Key::ControlF,
        0x08 => Key::ControlH,
        b'\t' => Key::Tab,
        b'\n' => Key::LineFeed,
        0x0b => Key::KillToEnd,
        0x0c => Key::ControlL,
        b'\r' => Key::Enter,
        0x0e => Key::ControlN,
        0x10 => Key::ControlP,
        0x12 | 0x13 => Key::Search,
        0x15 => Key::KillLine,
        0x17 => Key::KillWord,
        0x7f => Key::Backspace,
        _ => Key::Other,
    }
}

/// Returns the key of an ASCII byte typed with Alt. Source: the defaults of readline, zsh and fish.
pub(super) const fn alt_key(byte: u8) -> Key {
    match byte {
        b'b' => Key::WordLeft,
        b'f' => Key::WordRight,
        b'd' => Key::KillWordRight,
        0x08 | 0x7f => Key::KillWordLeft,
        _ => Key::Other,
    }
}
