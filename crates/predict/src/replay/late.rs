//! Characters whose echo did not come in time. Some hosts are only slow: if it comes after all, that is
//! learned, and they are waited for longer.

use std::collections::VecDeque;

use rove_terminal::{Position, Screen};
use rove_units::{Duration, Instant};

use crate::replay::canvas::Text;
use crate::replay::context::ContextKey;

/// How long after its echo ack an echo may come and still be one. Source: docs/prediction.md.
const LATE_MAX: Duration = Duration::from_millis(1500);

/// Most characters that are remembered: more are not typed in that time.
const CHARACTERS_MAX: usize = 32;

/// Characters that may still be echoed, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Late {
    characters: VecDeque<(char, Instant, ContextKey)>,
}

impl Late {
    /// Takes a character that was given up, when its echo was due, and where.
    pub(super) fn push(&mut self, base: char, due_at: Instant, context: ContextKey) {
        if self.characters.len() < CHARACTERS_MAX {
            self.characters.push_back((base, due_at, context));
        }
    }

    /// Forgets what is too old, and returns where it was typed.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<ContextKey> {
        let is_old = |due_at: Instant| now.saturating_since(due_at) >= LATE_MAX;
        let old = self.characters.iter().take_while(|(_, due_at, _)| is_old(*due_at));
        let contexts: Vec<ContextKey> = old.map(|(.., context)| *context).collect();
        self.forget(contexts.len());
        contexts
    }

    /// Returns how late the echo of each character was that the screen shows now and did not show before.
    pub(super) fn answers(
        &mut self,
        now: Instant,
        before: &Screen,
        screen: &Screen,
    ) -> Vec<Duration> {
        let (from, to) = (before.cursor(), screen.cursor());
        let moved = usize::from(to.column.saturating_sub(from.column));
        if from.row != to.row || moved == 0 || moved > self.characters.len() {
            return Vec::new();
        }
        let is_echoed =
            (from.column..).zip(self.characters.iter().take(moved)).all(|(column, (base, ..))| {
                Text::plain(*base) == Text::of(screen, Position { row: to.row, column })
            });
        if !is_echoed {
            return Vec::new();
        }
        let late = |(_, due_at, _): &(char, Instant, ContextKey)| now.saturating_since(*due_at);
        let answers = self.characters.iter().take(moved).map(late).collect();
        self.forget(moved);
        answers
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.forget(self.characters.len());
    }

    fn forget(&mut self, count: usize) {
        for mut character in self.characters.drain(..count) {
            character.0 = '\0';
            core::hint::black_box(&character);
        }
    }
}
