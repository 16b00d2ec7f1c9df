//! Hashes of screen contents, by which prompts and windows are recognised.

use crate::replay::canvas::mix;

/// Identifies a kind of prompt. It is a hash of the terminal's modes and of the prompt's text (or only its end),
/// without numbers and paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PromptId(u64);

/// Identifies a window or field in which a program reads keys.
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

/// Most names of prompts that are remembered, at most two for each prompt. A new name replaces the least recently used.
/// Chosen: far more than the few programs that each user ran in the Mosh paper (USENIX ATC 2012).
pub(super) const NAMES_MAX: usize = 128;

/// The identities of a prompt: `strong` by its whole text, and `weak` only by its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ContextKey {
    pub(super) strong: PromptId,
    pub(super) weak: PromptId,
    /// The identity by the prompt's text alone, without the terminal's modes and the kind of program.
    pub(super) text: PromptId,
}

impl ContextKey {
    /// Returns `strong` and `weak`. If they are equal, returns the common value once.
    pub(super) fn names(self) -> impl Iterator<Item = PromptId> {
        [self.strong].into_iter().chain((self.weak != self.strong).then_some(self.weak))
    }
}
