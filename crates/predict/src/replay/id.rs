//! Names of the screen's contents, by which they are recognised.

use crate::replay::canvas::mix;

/// The name of a kind of prompt: the modes of its terminal, and its text without numbers and paths, or the end of that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PromptId(u64);

/// The name of a part of the screen that a program takes keys in.
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

/// Most names of contexts that are remembered, two for each; the least recently used one goes. Source: the paper's
/// users had a handful of programs.
pub(super) const NAMES_MAX: usize = 128;

/// The names of a context: exact, and by no more than the end of its prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ContextKey {
    pub(super) strong: PromptId,
    pub(super) weak: PromptId,
    /// The name of the prompt's text alone. The modes of the terminal and the place on the screen do not change it.
    pub(super) text: PromptId,
}

impl ContextKey {
    /// Both names; one only where they are the same.
    pub(super) fn names(self) -> impl Iterator<Item = PromptId> {
        [self.strong].into_iter().chain((self.weak != self.strong).then_some(self.weak))
    }
}
