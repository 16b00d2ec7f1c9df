//! How often predictions were right at each kind of prompt. This decides whether later ones are shown there.

use crate::replay::class::{CLASSES, Class};
use crate::replay::evidence::Share;
use crate::replay::id::{ContextKey, NAMES_MAX, PromptId};
use crate::replay::memory::Memory;

/// Number of keys for which a prompt is treated with caution after the user saw a wrong prediction there. Characters
/// are then shown only after two were confirmed. Chosen: with 50, as many predictions are wrong, and 0.4 percentage
/// points fewer keys are shown at once.
const CAUTION_KEYS: u32 = 10;

/// How often predictions were right at one kind of prompt.
#[derive(Clone, Debug)]
pub(super) struct Context {
    scores: [Share; CLASSES],
    /// How many more keys must be answered until the caution ends ([`CAUTION_KEYS`]).
    caution: u32,
}

/// How often predictions were right, for all kinds of prompts in a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Contexts {
    known: Memory<PromptId, Context, NAMES_MAX>,
    /// An empty context, for kinds of prompts that were not seen yet.
    unknown: Context,
}

impl Default for Context {
    fn default() -> Self {
        Self { scores: [Share::default(); CLASSES], caution: 0 }
    }
}

impl Contexts {
    /// Returns the context of prompts with this whole text. It is empty for a new kind of prompt.
    pub(super) fn strong(&self, key: ContextKey) -> &Context {
        self.find(key.strong)
    }

    /// Returns the context that all prompts with the same last characters share.
    pub(super) fn weak(&self, key: ContextKey) -> &Context {
        self.find(key.weak)
    }

    /// Records whether the prediction for a key of this class was right.
    pub(super) fn learn(&mut self, key: ContextKey, class: Class, is_right: bool) {
        for name in key.names() {
            let score = &mut self.entry(name).scores[class.index()];
            score.add(is_right);
            if is_right && class != Class::Text && !class.is_recall() {
                score.forgive();
            }
        }
    }

    /// Records that a key was answered in this context, which shortens the caution.
    pub(super) fn pass(&mut self, key: ContextKey) {
        for name in key.names() {
            let context = self.entry(name);
            context.caution = context.caution.saturating_sub(1);
        }
    }

    /// Records that the user has seen a wrong prediction in this context, and begins the caution.
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

    /// Returns whether the user has recently seen a wrong prediction in this context.
    pub(super) fn is_careful(&self) -> bool {
        self.caution > 0
    }
}
