//! How input continues after the end of its row. In most line editors it continues in the first column of the pane's
//! next row. The cursor moves there as soon as a row is full. Other programs differ. So nothing is shown beyond the
//! right edge at first. A screen at the same kind of prompt must have shown how its input continues.

use crate::replay::evidence::Share;
use crate::replay::id::{ContextKey, NAMES_MAX, PromptId};
use crate::replay::layout::Crossing;
use crate::replay::memory::Memory;

/// How input continues after the end of a row at one kind of prompt.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WrapBehaviour {
    /// How often the input continued as predicted, and how often it did not.
    share: Share,
    /// Whether all text was observed to move up for a new row at the bottom.
    pub(super) scrolls: bool,
    /// Whether the cursor waits at the right edge for the next character, as if only the terminal wraps lines. Nothing
    /// is predicted there, but keys that the screen already shows are recognised.
    pub(super) is_lazy: bool,
}

/// How input continues after the end of a row, at each kind of prompt.
#[derive(Clone, Debug, Default)]
pub(super) struct Wraps {
    known: Memory<PromptId, WrapBehaviour, NAMES_MAX>,
    /// For each kind of prompt, the column up to which rows are filled before words move to the next row.
    widths: Memory<PromptId, u16, NAMES_MAX>,
}

impl Wraps {
    /// Returns how input continues at a prompt, or at prompts that end like it. `None` if that is unknown.
    pub(super) fn find(&self, key: ContextKey) -> Option<WrapBehaviour> {
        self.known.find(&key.strong).or_else(|| self.known.find(&key.weak)).copied()
    }

    /// Records that the input has continued in the next row.
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

    /// Returns whether a character typed at `column` may move with its word to the next row.
    pub(super) fn may_break(&self, key: ContextKey, column: u16) -> bool {
        self.widths.find(&key.weak).is_some_and(|width| column >= *width)
    }

    /// Records that text reached a column, or that a word moved from that column to the next row (`is_broken`).
    pub(super) fn note_width(&mut self, key: ContextKey, column: u16, is_broken: bool) {
        if is_broken {
            *self.widths.entry(key.weak) = column;
        } else if let Some(width) = self.widths.find_mut(&key.weak) {
            *width = column.max(*width);
        }
    }

    /// Records that the input did not continue as predicted.
    pub(super) fn doubt(&mut self, key: ContextKey) {
        for name in key.names() {
            if let Some(wrap) = self.known.find_mut(&name) {
                wrap.share.add(false);
            }
        }
    }
}

/// Counts of right and wrong predictions, added to the real counts after the first observed continuation.
const SEEN: Share = Share { right: 10.0, wrong: 0.1 };

impl WrapBehaviour {
    /// Returns whether keys are shown beyond the right edge: the share `threshold` was right. False if `is_lazy`.
    pub(super) fn is_shown(self, threshold: f32) -> bool {
        !self.is_lazy && self.share.right >= 1.0 && self.share.estimate(SEEN) >= threshold
    }
}
