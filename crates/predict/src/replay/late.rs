//! Keys whose predictions were dropped because no effect came in time. After a late effect, the engine waits longer.

use std::collections::VecDeque;

use rove_terminal::{Key, Screen};
use rove_units::{Duration, Instant};

use crate::replay::class::Effect;
use crate::replay::id::ContextKey;
use crate::replay::log::wipe;
use crate::replay::simulate::Simulation;

/// Longest time from a key's echo ack to an effect that is still attributed to it. Source: docs/prediction.md.
const LATE_MAX: Duration = Duration::from_millis(1500);

/// Most keys with dropped predictions whose late effects are awaited. Chosen: nobody types more in [`LATE_MAX`].
const GIVEN_UP_MAX: usize = 32;

/// A key whose prediction was dropped because its effect was overdue.
#[derive(Clone, Copy, Debug)]
pub(super) struct GivenUp {
    pub(super) key: Key,
    /// When the key's echo ack came, from which [`LATE_MAX`] counts.
    pub(super) due_at: Instant,
    pub(super) context: ContextKey,
}

/// Keys whose predictions were dropped, and whose effects may still come, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Late {
    keys: VecDeque<GivenUp>,
}

impl Late {
    /// Adds a key whose prediction was dropped. Ignores the key if the list is full.
    pub(super) fn push(&mut self, given_up: GivenUp) {
        if self.keys.len() < GIVEN_UP_MAX {
            self.keys.push_back(given_up);
        }
        debug_assert!(self.keys.len() <= GIVEN_UP_MAX, "no more keys are kept than the most");
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = &GivenUp> {
        self.keys.iter()
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns how many of the oldest keys became due at least [`LATE_MAX`] ago.
    pub(super) fn old(&self, now: Instant) -> usize {
        let is_old = |given_up: &&GivenUp| now.saturating_since(given_up.due_at) >= LATE_MAX;
        self.keys.iter().take_while(is_old).count()
    }

    /// Returns how many keys the screen shows, of this list and then of `arrived`, the keys typed after them.
    /// `simulation` is the state before all these keys.
    pub(super) fn answered(
        &self,
        mut simulation: Simulation<'_>,
        arrived: impl Iterator<Item = Key>,
        screen: &Screen,
    ) -> usize {
        let cursor = screen.cursor().position();
        let mut answered = 0;
        for (count, key) in (1..).zip(self.iter().map(|given_up| given_up.key).chain(arrived)) {
            if simulation.apply(key) == Effect::Unknown {
                break;
            }
            if simulation.canvas.cursor == cursor && simulation.canvas.agrees(screen) {
                answered = count;
            }
        }
        answered
    }

    pub(super) fn clear(&mut self) {
        self.forget(self.keys.len());
    }

    /// Removes the `count` oldest keys, and wipes them from memory.
    pub(super) fn forget(&mut self, count: usize) {
        let count = count.min(self.keys.len());
        self.keys.iter_mut().take(count).for_each(|given_up| wipe(&mut given_up.key));
        self.keys.drain(..count);
    }
}
