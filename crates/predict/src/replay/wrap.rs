//! Input that continues after the end of its row as in most line editors: in the first column of the pane's next row,
//! to which the cursor moves as soon as a row is full. Other programs behave differently, so nothing is shown beyond
//! the right edge until this was seen, at each kind of prompt.

use crate::replay::evidence::Share;
use crate::replay::id::{ContextKey, NAMES_MAX, PromptId};
use crate::replay::layout::Crossing;
use crate::replay::memory::Memory;

/// How one kind of prompt continues input after the end of a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WrapBehaviour {
    /// How often the input continued as predicted, and how often not.
    share: Share,
    /// Whether all text was seen to move up for a new row at the bottom.
    pub(super) scrolls: bool,
    /// Whether the cursor waits at the right edge for the next character, as where the terminal alone wraps lines.
    /// Nothing is predicted there, but keys that the screen shows already are recognised.
    pub(super) is_lazy: bool,
}

/// How each kind of prompt continues input after the end of a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Wraps {
    known: Memory<PromptId, WrapBehaviour, NAMES_MAX>,
    /// For each kind of prompt, the column up to which rows were filled before words were moved to the next row.
    widths: Memory<PromptId, u16, NAMES_MAX>,
}

impl Wraps {
    /// Returns how a prompt, or prompts that end alike, continue input. `None` if that is unknown.
    pub(super) fn find(&self, key: ContextKey) -> Option<WrapBehaviour> {
        self.known.find(&key.strong).or_else(|| self.known.find(&key.weak)).copied()
    }

    /// Called when the input continued in the next row.
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

    /// Called when text was seen up to a column, or was moved from there to the next row (`is_broken`).
    pub(super) fn note_width(&mut self, key: ContextKey, column: u16, is_broken: bool) {
        if is_broken {
            *self.widths.entry(key.weak) = column;
        } else if let Some(width) = self.widths.find_mut(&key.weak) {
            *width = column.max(*width);
        }
    }

    /// Called when the input did not continue as predicted.
    pub(super) fn doubt(&mut self, key: ContextKey) {
        for name in key.names() {
            if let Some(wrap) = self.known.find_mut(&name) {
                wrap.share.add(false);
            }
        }
    }
}

/// Counts that are assumed at first for a behaviour that was seen once.
const SEEN: Share = Share { right: 10.0, wrong: 0.1 };

impl WrapBehaviour {
    /// Returns whether keys are shown beyond the right edge, if the share `threshold` of them must be right.
    pub(super) fn is_shown(self, threshold: f32) -> bool {
        !self.is_lazy && self.share.right >= 1.0 && self.share.estimate(SEEN) >= threshold
    }
}
