//! The memory of each kind of prompt, so that experience with a prompt counts for the next of its kind.

use crate::replay::class::{CLASSES, Class};
use crate::replay::evidence::Share;
use crate::replay::id::{ContextKey, NAMES_MAX, PromptId};
use crate::replay::memory::Memory;

/// How many keys an error makes a context careful for. Chosen: with 50 as many keys are wrong, and 0.4 points fewer instant.
const CAUTION_KEYS: u32 = 10;

/// The knowledge of a kind of prompt.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    scores: [Share; CLASSES],
    /// How many more keys must pass before it is trusted like others again.
    caution: u32,
}

/// All contexts of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Contexts {
    known: Memory<PromptId, Context, NAMES_MAX>,
    /// The knowledge of others: nothing yet.
    unknown: Context,
}

impl Contexts {
    /// Returns the knowledge of the exact kind of prompt, which may be empty.
    pub(super) fn strong(&self, key: ContextKey) -> &Context {
        self.find(key.strong)
    }

    /// Returns the knowledge of prompts that end alike.
    pub(super) fn weak(&self, key: ContextKey) -> &Context {
        self.find(key.weak)
    }

    /// Records how a prediction turned out.
    pub(super) fn learn(&mut self, key: ContextKey, class: Class, is_right: bool) {
        for name in key.names() {
            let score = &mut self.entry(name).scores[class.index()];
            score.add(is_right);
            if is_right && class != Class::Text && !class.is_recall() {
                score.forgive();
            }
        }
    }

    /// Called when a key was answered in its context.
    pub(super) fn pass(&mut self, key: ContextKey) {
        for name in key.names() {
            let context = self.entry(name);
            context.caution = context.caution.saturating_sub(1);
        }
    }

    /// Called when the user has seen something wrong.
    pub(super) fn distrust(&mut self, key: ContextKey) {
        for name in key.names() {
            self.entry(name).caution = CAUTION_KEYS;
        }
    }

    fn find(&self, name: PromptId) -> &Context {
        self.known.find(&name).unwrap_or(&self.unknown)
    }

    fn entry(&mut self, name: PromptId) -> &mut Context {
        self.known.entry(name)
    }
}

impl Context {
    pub(super) fn score(&self, class: Class) -> Share {
        self.scores[class.index()]
    }

    /// Returns whether something wrong was seen in it not long ago.
    pub(super) fn is_careful(&self) -> bool {
        self.caution > 0
    }
}
