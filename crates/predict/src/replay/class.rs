//! Classes of keys, and the effect of each class. Predictions for keys of the same class are judged together.

use rove_terminal::Key;

use crate::mechanism::Mechanism;
use crate::replay::motion::Motion;

/// The class of a key, by its meaning in a line editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Text,
    Backspace,
    ControlH,
    Left,
    Right,
    /// Ctrl-B, which moves like Left (`ControlRight`: Ctrl-F, like Right). Both have other meanings in some programs.
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
    /// The key of `WordLeft` at text for which line editors differ. Each `Disputed` class is learned separately.
    DisputedWordLeft,
    DisputedWordRight,
    DisputedKillLine,
    DisputedKillWord,
    DisputedKillWordLeft,
    DisputedKillWordRight,
    /// The Right key at the start of a suggestion, which accepts the whole suggestion.
    Accept,
    /// The End key at the start of a suggestion, which accepts the whole suggestion.
    AcceptToEnd,
    /// The key for "word right" at the start of a suggestion, which accepts the suggestion's first word.
    AcceptWord,
    /// The Up and Down keys, which recall entered lines. `ControlRecall` is Ctrl-P and Ctrl-N, learned separately.
    Recall,
    ControlRecall,
    /// Not a key, but a prediction: text typed in the last row moves up when the program draws rows below it.
    Rise,
    /// Not a key, but a prediction: a suggestion stays after a character that does not continue it, as a hint does.
    Hint,
    /// Not a key, but a prediction: a suggestion stays after text was erased.
    Regrowth,
    /// Not a key, but a prediction: the cursor briefly jumps to the bracket that a typed bracket closes.
    Flash,
    /// Any other key, whose effect is unknown.
    Command,
}

/// A predicted effect of a key on the screen. All programs share these effects, and no others are predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    /// Puts a character at the cursor.
    Insert(char),
    /// Moves the cursor within the input.
    Move(Target),
    /// Deletes the text between the cursor and the target, such as the start of the word.
    Erase(Target),
    /// Inserts the suggestion: all of it, or its first word.
    Accept { is_word: bool },
    /// Moves the cursor over the whole screen.
    Navigate(Motion),
    /// Replaces the input by an older line, or by a newer one.
    Recall { is_back: bool },
}

/// A position in the input, relative to the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Left,
    Right,
    Start,
    End,
    /// The start of the word of letters and digits on the left. `WordRight` is the end of such a word on the right.
    WordLeft,
    WordRight,
    /// The start of the blank-separated word on the left. Blanks directly left of the cursor are skipped.
    SolidLeft,
}

/// The outcome of simulating a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The key changes predicted cells or the predicted cursor.
    Drawn,
    /// The key changes nothing visible.
    Nothing,
    /// The effect is unknown: later keys wait until the screen shows it.
    Unknown,
}

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

    /// Returns the mechanism that predicts keys of this class. `None` if no experiment can switch it off.
    pub(super) const fn mechanism(self) -> Option<Mechanism> {
        match self {
            Self::Text | Self::Backspace | Self::ControlH | Self::Rise => None,
            Self::Hint | Self::Regrowth | Self::Flash => None,
            Self::Left | Self::Right | Self::Command => None,
            Self::Accept | Self::AcceptToEnd | Self::AcceptWord => None,
            Self::WordLeft | Self::WordRight => Some(Mechanism::WordKeys),
            Self::KillWord | Self::KillWordLeft | Self::KillWordRight => Some(Mechanism::WordKeys),
            Self::DisputedWordLeft | Self::DisputedWordRight => Some(Mechanism::WordKeys),
            Self::DisputedKillWord => Some(Mechanism::WordKeys),
            Self::DisputedKillWordLeft | Self::DisputedKillWordRight => Some(Mechanism::WordKeys),
            Self::Recall | Self::ControlRecall => Some(Mechanism::History),
            _ => Some(Mechanism::LineKeys),
        }
    }

    /// Returns the effect on the input of a key of this class. `None` if the effect is unknown.
    pub(super) const fn edit(self, key: Key) -> Option<Edit> {
        Some(match self {
            Self::Text => match key {
                Key::Text(c) => Edit::Insert(c),
                _ => return None,
            },
            Self::Backspace | Self::ControlH => Edit::Erase(Target::Left),
            Self::Left | Self::ControlLeft => Edit::Move(Target::Left),
            Self::Right | Self::ControlRight => Edit::Move(Target::Right),
            Self::WordLeft | Self::DisputedWordLeft => Edit::Move(Target::WordLeft),
            Self::WordRight | Self::DisputedWordRight => Edit::Move(Target::WordRight),
            Self::Home | Self::ControlHome => Edit::Move(Target::Start),
            Self::End | Self::ControlEnd => Edit::Move(Target::End),
            Self::Delete | Self::ControlD => Edit::Erase(Target::Right),
            Self::KillToEnd => Edit::Erase(Target::End),
            Self::KillLine | Self::DisputedKillLine => Edit::Erase(Target::Start),
            Self::KillWord | Self::DisputedKillWord => Edit::Erase(Target::SolidLeft),
            Self::KillWordLeft | Self::DisputedKillWordLeft => Edit::Erase(Target::WordLeft),
            Self::KillWordRight | Self::DisputedKillWordRight => Edit::Erase(Target::WordRight),
            Self::Accept | Self::AcceptToEnd => Edit::Accept { is_word: false },
            Self::AcceptWord => Edit::Accept { is_word: true },
            Self::Recall | Self::ControlRecall => {
                Edit::Recall { is_back: matches!(key, Key::Up | Key::ControlP) }
            }
            Self::Rise | Self::Hint | Self::Regrowth | Self::Flash | Self::Command => return None,
        })
    }

    /// Returns the `Disputed` class of these keys, for text at which line editors differ. Or else returns `self`.
    pub(super) const fn disputed(self) -> Self {
        match self {
            Self::WordLeft => Self::DisputedWordLeft,
            Self::WordRight => Self::DisputedWordRight,
            Self::KillLine => Self::DisputedKillLine,
            Self::KillWord => Self::DisputedKillWord,
            Self::KillWordLeft => Self::DisputedKillWordLeft,
            Self::KillWordRight => Self::DisputedKillWordRight,
            _ => self,
        }
    }

    pub(super) const fn index(self) -> usize {
        self as usize
    }

    /// Returns whether keys of this class may change the text of the input.
    pub(super) const fn is_change(self) -> bool {
        !matches!(self.edit(Key::Other), Some(Edit::Move(_) | Edit::Recall { .. }))
    }

    pub(super) const fn is_recall(self) -> bool {
        matches!(self, Self::Recall | Self::ControlRecall)
    }

    /// Returns whether keys of this class may be shown with no more evidence than typed text, as in Mosh 1.4.0.
    pub(super) const fn follows_text(self) -> bool {
        matches!(self, Self::Text | Self::Backspace | Self::Left | Self::Right)
    }
}

/// Returns whether a key, if it has no visible effect, may begin a command of two keys.
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

/// Returns whether a key ends a line (Enter, line feed or interrupt).
pub(super) const fn is_enter(key: Key) -> bool {
    matches!(key, Key::Enter | Key::LineFeed | Key::Interrupt)
}

/// Returns whether a key ends a line that the editor then keeps in its history (Enter or line feed).
pub(super) const fn is_end(key: Key) -> bool {
    matches!(key, Key::Enter | Key::LineFeed)
}
