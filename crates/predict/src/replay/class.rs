//! Kinds of keys that are learned together.

use crate::keystroke::Key;
use crate::mechanism::Mechanism;

/// The meaning of a key to a line editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Text,
    Backspace,
    ControlH,
    Left,
    Right,
    /// The same by Ctrl-B and Ctrl-F, of which other programs make something else.
    ControlLeft,
    ControlRight,
    WordLeft,
    WordRight,
    Home,
    End,
    ControlHome,
    ControlEnd,
    Delete,
    ControlD,
    KillToEnd,
    KillLine,
    KillWord,
    KillWordLeft,
    KillWordRight,
    /// Right, at a suggestion: takes all of it.
    Accept,
    /// End, there.
    AcceptToEnd,
    /// A word to the right, there.
    AcceptWord,
    /// Backspace behind nothing but the blanks that a text begins a row with, of which it may take several.
    Unindent,
    /// No key: that text behind the cursor is suggested.
    Suggestion,
    /// No key: that what was taken back is suggested.
    Regrowth,
    /// Anything else: what it does is unknown.
    Command,
}

/// How many there are.
pub(super) const CLASSES: usize = Class::Command as usize + 1;

impl Class {
    pub(super) const fn of(key: Key) -> Self {
        match key {
            Key::Text(_) => Self::Text,
            Key::Backspace => Self::Backspace,
            Key::ControlH => Self::ControlH,
            Key::Left => Self::Left,
            Key::Right => Self::Right,
            Key::ControlB => Self::ControlLeft,
            Key::ControlF => Self::ControlRight,
            Key::WordLeft => Self::WordLeft,
            Key::WordRight => Self::WordRight,
            Key::Home => Self::Home,
            Key::End => Self::End,
            Key::ControlA => Self::ControlHome,
            Key::ControlE => Self::ControlEnd,
            Key::Delete => Self::Delete,
            Key::ControlD => Self::ControlD,
            Key::KillToEnd => Self::KillToEnd,
            Key::KillLine => Self::KillLine,
            Key::KillWord => Self::KillWord,
            Key::KillWordLeft => Self::KillWordLeft,
            Key::KillWordRight => Self::KillWordRight,
            _ => Self::Command,
        }
    }

    /// Returns the mechanism that it belongs to; `None` for those without which there is none.
    pub(super) const fn mechanism(self) -> Option<Mechanism> {
        match self {
            Self::ControlLeft
            | Self::ControlRight
            | Self::Home
            | Self::End
            | Self::ControlHome
            | Self::ControlEnd
            | Self::Delete
            | Self::ControlD
            | Self::KillToEnd
            | Self::KillLine => Some(Mechanism::LineKeys),
            Self::WordLeft
            | Self::WordRight
            | Self::KillWord
            | Self::KillWordLeft
            | Self::KillWordRight => Some(Mechanism::WordKeys),
            _ => None,
        }
    }

    pub(super) const fn index(self) -> usize {
        self as usize
    }

    /// Returns whether it leaves the text as it is.
    pub(super) const fn is_motion(self) -> bool {
        matches!(
            self,
            Self::Left
                | Self::Right
                | Self::ControlLeft
                | Self::ControlRight
                | Self::WordLeft
                | Self::WordRight
                | Self::Home
                | Self::End
                | Self::ControlHome
                | Self::ControlEnd
        )
    }

    /// Returns whether it is shown as soon as text is: what Mosh 1.4.0 does without harm.
    pub(super) const fn follows_text(self) -> bool {
        matches!(self, Self::Text | Self::Backspace | Self::Left | Self::Right)
    }
}

/// Returns whether a key that changes nothing by itself may begin a command of two keys.
pub(super) const fn may_be_prefix(key: Key) -> bool {
    matches!(
        key,
        Key::ControlA
            | Key::ControlB
            | Key::ControlE
            | Key::ControlF
            | Key::KillToEnd
            | Key::KillLine
            | Key::KillWord
            | Key::Other
    )
}

/// Returns whether a key ends a line.
pub(super) const fn is_enter(key: Key) -> bool {
    matches!(key, Key::Enter | Key::LineFeed | Key::Interrupt)
}
