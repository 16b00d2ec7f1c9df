//! The keys, by what they are to a line editor.

/// A key, or another message of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character, of any width.
    Text(char),
    /// DEL, which the Backspace key mostly sends.
    Backspace,
    /// Ctrl-H, which it sends otherwise.
    ControlH,
    /// The Delete key: the character under the cursor.
    Delete,
    /// Ctrl-D: the same, or the end of the input.
    ControlD,
    /// The cursor key.
    Left,
    /// The cursor key.
    Right,
    /// Ctrl-B: left, and the prefix of tmux.
    ControlB,
    /// Ctrl-F: right.
    ControlF,
    /// Ctrl-Left, Alt-Left or Alt-b.
    WordLeft,
    /// Ctrl-Right, Alt-Right or Alt-f.
    WordRight,
    /// The Home key.
    Home,
    /// The End key.
    End,
    /// Ctrl-A: the start of the line, and the prefix of screen.
    ControlA,
    /// Ctrl-E: the end of the line.
    ControlE,
    /// Ctrl-K.
    KillToEnd,
    /// Ctrl-U: all of the line, or what is left of the cursor.
    KillLine,
    /// Ctrl-W: back to a blank.
    KillWord,
    /// Alt-Backspace or Ctrl-Backspace: back to a word's start, whose letters are fewer.
    KillWordLeft,
    /// Alt-d or Ctrl-Delete.
    KillWordRight,
    /// CR.
    Enter,
    /// LF.
    LineFeed,
    /// The Tab key.
    Tab,
    /// The cursor key.
    Up,
    /// The cursor key.
    Down,
    /// Ctrl-P: mostly up.
    ControlP,
    /// Ctrl-N: mostly down.
    ControlN,
    /// Ctrl-R or Ctrl-S.
    Search,
    /// Ctrl-L: mostly clears the screen.
    ControlL,
    /// Ctrl-C.
    Interrupt,
    /// The Escape key by itself.
    Escape,
    /// The Insert key.
    Insert,
    /// The bytes that follow are pasted.
    PasteStart,
    /// The paste ends.
    PasteEnd,
    /// No key: a mouse or focus report, an answer, a key released.
    Neutral,
    /// Any other key, and bytes that make none.
    Other,
}

impl Key {
    /// Returns what it is held with Alt, or after the Escape key where that does the same.
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

/// Returns what an ASCII byte other than ESC is.
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

/// Returns what an ASCII byte held with Alt is. Source: the defaults of readline, zsh and fish.
pub(super) const fn alt_key(byte: u8) -> Key {
    match byte {
        b'b' => Key::WordLeft,
        b'f' => Key::WordRight,
        b'd' => Key::KillWordRight,
        0x08 | 0x7f => Key::KillWordLeft,
        _ => Key::Other,
    }
}
