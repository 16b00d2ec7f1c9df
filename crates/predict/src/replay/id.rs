//! Names of what stands on the screen, by which it is known again.

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
