//! Kinds of keys that are learned together, and the effect of each.

use crate::keystroke::Key;
use crate::mechanism::Mechanism;
use crate::replay::motion::Motion;

/// The meaning of a key to a line editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Text,
    Backspace,
    ControlH,
    Left,
    Right,
    /// The same by Ctrl-B and Ctrl-F, which other programs use otherwise.
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
    /// Up and Down, which bring back lines, and the same by Ctrl-P and Ctrl-N.
    Recall,
    ControlRecall,
    /// No key: the claim that text typed in the last row moves up for rows drawn below it.
    Rise,
    /// No key: the claim that a suggestion stays after a character that it does not go on with, as a hint does.
    Hint,
    /// No key: the claim that a suggestion stays after text was taken back.
    Regrowth,
    /// No key: the claim that the cursor stands for a moment on the bracket that a typed one closes.
    Flash,
    /// Any other key, with an unknown effect.
    Command,
}

/// A key's effect on what stands on the screen, in words that name no program. There are no others: what is none of these is
/// not predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// A character is put at the cursor.
    Insert(char),
    /// The cursor moves within the input.
    Move(Target),
    /// The text between the cursor and a place of the input is taken out.
    Erase(Target),
    /// The suggestion becomes part of the input: all of it, or its first word.
    Accept { is_word: bool },
    /// The cursor moves over the whole screen.
    Navigate(Motion),
    /// An older or a newer line is put in place of the input.
    Recall { is_back: bool },
}

/// A place of the input, seen from the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Left,
    Right,
    Start,
    End,
    /// The start of a word of letters and digits, and the end of one.
    WordLeft,
    WordRight,
    /// The character after a blank.
    SolidLeft,
}

/// The outcome of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The canvas shows it.
    Drawn,
    /// No effect that could be seen.
    Nothing,
    /// Unknown: keys typed after it wait.
    Unknown,
}

/// How many classes there are.
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
            Key::Up | Key::Down => Self::Recall,
            Key::ControlP | Key::ControlN => Self::ControlRecall,
            _ => Self::Command,
        }
    }

    /// Returns the mechanism that it belongs to; `None` for kinds that cannot be switched off.
    pub(super) const fn mechanism(self) -> Option<Mechanism> {
        match self {
            Self::Text | Self::Backspace | Self::ControlH | Self::Rise => None,
            Self::Hint | Self::Regrowth | Self::Flash => None,
            Self::Left | Self::Right | Self::Command => None,
            Self::Accept | Self::AcceptToEnd | Self::AcceptWord => None,
            Self::WordLeft | Self::WordRight => Some(Mechanism::WordKeys),
            Self::KillWord | Self::KillWordLeft | Self::KillWordRight => Some(Mechanism::WordKeys),
            Self::Recall | Self::ControlRecall => Some(Mechanism::History),
            _ => Some(Mechanism::LineKeys),
        }
    }

    /// Returns the effect of such a key on the input; `None` if it is unknown.
    pub(super) const fn edit(self, key: Key) -> Option<Edit> {
        Some(match self {
            Self::Text => match key {
                Key::Text(c) => Edit::Insert(c),
                _ => return None,
            },
            Self::Backspace | Self::ControlH => Edit::Erase(Target::Left),
            Self::Left | Self::ControlLeft => Edit::Move(Target::Left),
            Self::Right | Self::ControlRight => Edit::Move(Target::Right),
            Self::WordLeft => Edit::Move(Target::WordLeft),
            Self::WordRight => Edit::Move(Target::WordRight),
            Self::Home | Self::ControlHome => Edit::Move(Target::Start),
            Self::End | Self::ControlEnd => Edit::Move(Target::End),
            Self::Delete | Self::ControlD => Edit::Erase(Target::Right),
            Self::KillToEnd => Edit::Erase(Target::End),
            Self::KillLine => Edit::Erase(Target::Start),
            Self::KillWord => Edit::Erase(Target::SolidLeft),
            Self::KillWordLeft => Edit::Erase(Target::WordLeft),
            Self::KillWordRight => Edit::Erase(Target::WordRight),
            Self::Accept | Self::AcceptToEnd => Edit::Accept { is_word: false },
            Self::AcceptWord => Edit::Accept { is_word: true },
            Self::Recall | Self::ControlRecall => {
                Edit::Recall { is_back: matches!(key, Key::Up | Key::ControlP) }
            }
            Self::Rise | Self::Hint | Self::Regrowth | Self::Flash | Self::Command => return None,
        })
    }

    pub(super) const fn index(self) -> usize {
        self as usize
    }

    /// Returns whether it may change the text of a line.
    pub(super) const fn is_change(self) -> bool {
        !matches!(self.edit(Key::Other), Some(Edit::Move(_) | Edit::Recall { .. }))
    }

    /// Returns whether it brings back another line.
    pub(super) const fn is_recall(self) -> bool {
        matches!(self, Self::Recall | Self::ControlRecall)
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
            | Key::ControlL
            | Key::Other
    )
}

/// Returns whether a key ends a line.
pub(super) const fn is_enter(key: Key) -> bool {
    matches!(key, Key::Enter | Key::LineFeed | Key::Interrupt)
}

/// Returns whether a key ends a line that is kept.
pub(super) const fn is_end(key: Key) -> bool {
    matches!(key, Key::Enter | Key::LineFeed)
}
