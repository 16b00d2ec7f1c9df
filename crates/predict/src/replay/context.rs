//! What is remembered of each kind of prompt, so that what one has shown counts for the next of its kind.

use crate::replay::class::{CLASSES, Class};
use crate::replay::evidence::Share;
use crate::replay::grace::Grace;
use crate::replay::id::PromptId;
use crate::replay::memory::Memory;
use crate::replay::wrap::{Lesson, Proof, Wrap};

/// Most names of contexts that are remembered, two for each; the one that was used least recently goes.
/// Source: the paper's users had a handful of programs.
const NAMES_MAX: usize = 128;

/// How many keys an error makes a context careful for.
const CAUTION_KEYS: u32 = 50;

/// The names of a context: exact, and by no more than the end of its prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ContextKey {
    pub(super) strong: PromptId,
    pub(super) weak: PromptId,
}

/// What is known of one kind of prompt.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    scores: [Share; CLASSES],
    /// How many more keys must pass before it is trusted like others again.
    caution: u32,
    pub(super) grace: Grace,
    /// How its input goes on over the edge of a row, once that was seen.
    wrap: Option<Lesson>,
}

/// All contexts of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Contexts {
    known: Memory<PromptId, Context, NAMES_MAX>,
    /// What is known of others: nothing yet.
    unknown: Context,
}

impl Contexts {
    /// Returns what is known of the exact kind of prompt; nothing yet, maybe.
    pub(super) fn strong(&self, key: ContextKey) -> &Context {
        self.find(key.strong)
    }

    /// Returns what is known of prompts that end alike.
    pub(super) fn weak(&self, key: ContextKey) -> &Context {
        self.find(key.weak)
    }

    /// Takes how a prediction turned out.
    pub(super) fn learn(&mut self, key: ContextKey, class: Class, is_right: bool) {
        for name in key.names() {
            let score = &mut self.entry(name).scores[class.index()];
            score.add(is_right);
            if is_right && class != Class::Text {
                score.forgive();
            }
        }
    }

    /// Takes that a key was answered in its context.
    pub(super) fn pass(&mut self, key: ContextKey) {
        for name in key.names() {
            let context = self.entry(name);
            context.caution = context.caution.saturating_sub(1);
        }
    }

    /// Takes that the user has seen something wrong.
    pub(super) fn distrust(&mut self, key: ContextKey) {
        for name in key.names() {
            self.entry(name).caution = CAUTION_KEYS;
        }
    }

    /// Returns how the input goes on over the edge of a row, as far as is known.
    pub(super) fn wrap(&self, key: ContextKey) -> Option<Lesson> {
        let (strong, weak) = (&self.strong(key).wrap, &self.weak(key).wrap);
        strong.as_ref().or(weak.as_ref()).cloned()
    }

    /// Takes that the input went on in this way.
    pub(super) fn learn_wrap(&mut self, key: ContextKey, wrap: &Wrap, proof: Proof) {
        for name in key.names() {
            let known = &mut self.entry(name).wrap;
            let mut lesson = known.take().filter(|lesson| lesson.wrap == *wrap);
            let lesson = lesson.get_or_insert_with(|| Lesson::new(wrap));
            if proof.has_text {
                lesson.text.add(true);
            }
            if proof.has_end {
                lesson.end.add(true);
            }
            lesson.scrolls |= proof.has_scrolled;
            *known = Some(lesson.clone());
        }
    }

    /// Takes that the input did not go on as it was thought to.
    pub(super) fn doubt_wrap(&mut self, key: ContextKey) {
        for name in key.names() {
            if let Some(lesson) = &mut self.entry(name).wrap {
                lesson.text.add(false);
                lesson.end.add(false);
            }
        }
    }

    /// Returns what is known of how late answers are, to be added to.
    pub(super) fn grace(&mut self, key: ContextKey) -> &mut Grace {
        &mut self.entry(key.weak).grace
    }

    fn find(&self, name: PromptId) -> &Context {
        self.known.find(&name).unwrap_or(&self.unknown)
    }

    fn entry(&mut self, name: PromptId) -> &mut Context {
        self.known.entry(name)
    }
}

impl ContextKey {
    /// Both names; one only where they are the same.
    fn names(self) -> impl Iterator<Item = PromptId> {
        [self.strong].into_iter().chain((self.weak != self.strong).then_some(self.weak))
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
