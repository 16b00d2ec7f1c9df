//! Input that goes on over the edge of its row as most line editors let it: in the first column of the pane's next row, to
//! which the cursor goes as soon as a row is full. Other programs do other things there, so that nothing is shown beyond
//! the edge before this was seen, at each kind of prompt.

use crate::replay::evidence::Share;
use crate::replay::id::{ContextKey, NAMES_MAX, PromptId};
use crate::replay::layout::Crossing;
use crate::replay::memory::Memory;

/// The knowledge of one kind of prompt.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WrapBehaviour {
    /// How often the input went on so, and how often not.
    share: Share,
    /// Whether all text was seen to move up for a new row at the bottom.
    pub(super) scrolls: bool,
    /// Whether the cursor waits at the edge for the next character, as where the terminal alone goes on. Nothing is shown
    /// there, but known, so that what the screen shows already is not shown again.
    pub(super) is_lazy: bool,
}

/// The prompts at which input was seen to go on.
#[derive(Clone, Debug, Default)]
pub(super) struct Wraps {
    known: Memory<PromptId, WrapBehaviour, NAMES_MAX>,
    /// The columns up to which rows were filled before words were moved to the next one.
    widths: Memory<PromptId, u16, NAMES_MAX>,
}

impl Wraps {
    /// Returns what is known of a prompt, or of those that end alike.
    pub(super) fn find(&self, key: ContextKey) -> Option<WrapBehaviour> {
        self.known.find(&key.strong).or_else(|| self.known.find(&key.weak)).copied()
    }

    /// Called when the input went on.
    pub(super) fn learn(&mut self, key: ContextKey, crossing: Crossing) {
        for name in key.names() {
            let wrap = self.known.entry(name);
            if wrap.is_lazy != crossing.is_lazy {
                *wrap = WrapBehaviour { is_lazy: crossing.is_lazy, ..WrapBehaviour::default() };
            }
            if crossing.is_proof {
                wrap.share.add(true);
            }
            wrap.scrolls |= crossing.has_scrolled;
        }
    }

    /// Returns whether a character typed at a column may begin a row with its word.
    pub(super) fn may_break(&self, key: ContextKey, column: u16) -> bool {
        self.widths.find(&key.weak).is_some_and(|width| column >= *width)
    }

    /// Called when text stands up to a column, or was moved from there to the next row.
    pub(super) fn note_width(&mut self, key: ContextKey, column: u16, is_broken: bool) {
        if is_broken {
            *self.widths.entry(key.weak) = column;
        } else if let Some(width) = self.widths.find_mut(&key.weak) {
            *width = column.max(*width);
        }
    }

    /// Called when the input did not go on as it was thought to.
    pub(super) fn doubt(&mut self, key: ContextKey) {
        for name in key.names() {
            if let Some(wrap) = self.known.find_mut(&name) {
                wrap.share.add(false);
            }
        }
    }
}

/// The prior of what was seen once.
const SEEN: Share = Share { right: 10.0, wrong: 0.1 };

impl WrapBehaviour {
    /// Returns whether keys are shown beyond the edge, if so large a share of them must have come true.
    pub(super) fn is_shown(self, threshold: f32) -> bool {
        !self.is_lazy && self.share.right >= 1.0 && self.share.estimate(SEEN) >= threshold
    }
}
