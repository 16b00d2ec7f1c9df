//! Hashes of the screen's contents, by which prompts and windows are recognised.

use crate::replay::canvas::mix;

/// The name of a kind of prompt: a hash of its terminal's modes, and of its text without numbers and paths, or of the
/// end of that text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PromptId(u64);

/// The name of a window or field that a program reads keys in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PlaceId(u64);

impl PromptId {
    pub(super) fn of(numbers: impl IntoIterator<Item = u64>) -> Self {
        Self(mix(numbers))
    }

    pub(super) const fn number(self) -> u64 {
        self.0
    }
}

impl PlaceId {
    pub(super) fn of(numbers: impl IntoIterator<Item = u64>) -> Self {
        Self(mix(numbers))
    }
}

/// Most names of prompts that are remembered, two for each prompt; the least recently used is dropped. Source: users of
/// the Mosh paper (USENIX ATC 2012) had a handful of programs.
pub(super) const NAMES_MAX: usize = 128;

/// The names of a kind of prompt: the exact one, and one by the prompt's end only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ContextKey {
    pub(super) strong: PromptId,
    pub(super) weak: PromptId,
    /// The name of the prompt's text alone, without the modes of the terminal and the position on the screen.
    pub(super) text: PromptId,
}

impl ContextKey {
    /// Returns both names of the prompt, or one if they are equal.
    pub(super) fn names(self) -> impl Iterator<Item = PromptId> {
        [self.strong].into_iter().chain((self.weak != self.strong).then_some(self.weak))
    }
}
