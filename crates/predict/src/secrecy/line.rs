//! The echo of the typed characters in a line, and which characters prove an echo.

use crate::scene;

/// Letters and digits that programs show in place of typed characters.
const MASK_LETTERS: [char; 6] = ['x', 'X', 'o', 'O', '0', '8'];

/// The echo in one input line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    has_echoed: bool,
    /// The first character that appeared where it was typed. If it may be a mask, only a different one proves an echo.
    first: Option<char>,
    /// Whether a key was answered otherwise than by its echo, or not in time.
    is_spoilt: bool,
}

impl Line {
    /// Returns whether the next character of this line may be shown: the host has echoed text in the line.
    pub(crate) const fn may_show(self) -> bool {
        self.has_echoed
    }

    /// Returns whether a key was answered otherwise than by its echo, and no text was echoed since then in this line.
    pub(super) const fn is_spoilt(self) -> bool {
        self.is_spoilt && !self.has_echoed
    }

    /// Returns whether any key was answered otherwise than by its echo, even if others were echoed later.
    pub(super) const fn was_spoilt(self) -> bool {
        self.is_spoilt
    }

    /// Records that a character appeared where it was typed. A blank or a sign like `*` proves nothing. A letter or
    /// digit that is no mask proves an echo. So does one that differs from the first: a mask is always the same.
    pub(crate) fn note_echo(&mut self, c: char) {
        if scene::is_mask(c) || c.is_whitespace() {
            return;
        }
        let may_mask = !c.is_alphanumeric() || MASK_LETTERS.contains(&c);
        let differs = self.first.is_some_and(|first| first != c);
        self.has_echoed |= !may_mask || differs;
        self.first.get_or_insert(c);
    }

    /// Records that a key was answered otherwise than by its echo.
    pub(crate) const fn spoil(&mut self) {
        *self = Self { has_echoed: false, first: None, is_spoilt: true };
    }

    /// Records that another line may have begun, without any echo yet. A spoilt line stays spoilt.
    pub(crate) const fn end(&mut self) {
        (self.has_echoed, self.first) = (false, None);
    }
}
