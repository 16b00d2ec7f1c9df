//! Keys whose effect did not come in time. Some hosts are only slow: if it comes after all, that is
//! learned, and they are waited for longer.

use std::collections::VecDeque;

use rove_terminal::Screen;
use rove_units::{Duration, Instant};

use crate::keystroke::Key;
use crate::replay::Replay;
use crate::replay::class::Class;
use crate::replay::context::ContextKey;
use crate::replay::simulate::Effect;

/// How long after its echo ack an effect may come and still be one. Source: docs/prediction.md.
const LATE_MAX: Duration = Duration::from_millis(1500);

/// Most keys that are remembered: more are not typed in that time.
const GIVEN_UP_MAX: usize = 32;

/// A key that was given up.
#[derive(Clone, Copy, Debug)]
pub(super) struct GivenUp {
    pub(super) key: Key,
    /// When its effect was due, and where it was typed.
    pub(super) due_at: Instant,
    pub(super) context: ContextKey,
}

/// Keys whose effect may still come, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Late {
    keys: VecDeque<GivenUp>,
}

impl Late {
    /// Takes a key that was given up.
    pub(super) fn push(&mut self, given_up: GivenUp) {
        if self.keys.len() < GIVEN_UP_MAX {
            self.keys.push_back(given_up);
        }
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

    /// Returns how many are too old to come.
    pub(super) fn old(&self, now: Instant) -> usize {
        let is_old = |given_up: &&GivenUp| now.saturating_since(given_up.due_at) >= LATE_MAX;
        self.keys.iter().take_while(is_old).count()
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.forget(self.keys.len());
    }

    /// Forgets the oldest.
    pub(super) fn forget(&mut self, count: usize) {
        for mut given_up in self.keys.drain(..count.min(self.keys.len())) {
            given_up.key = Key::Other;
            core::hint::black_box(&given_up);
        }
    }
}

impl Replay {
    /// Learns from effects that come after their keys were given up.
    pub(super) fn take_late(&mut self, now: Instant, screen: &Screen) {
        let old = self.late.old(now);
        for given_up in self.late.iter().take(old) {
            self.contexts.learn(given_up.context, Class::of(given_up.key), false);
        }
        self.late.forget(old);
        let answered = self.answered(screen);
        let late = answered.min(self.late.len());
        if late == 0 {
            return;
        }
        let context = self.field.context;
        for given_up in self.late.iter().take(late) {
            self.contexts.grace(context).handle_answer(now.saturating_since(given_up.due_at));
            self.contexts.learn(context, Class::of(given_up.key), true);
            self.field.confirmed += u32::from(matches!(given_up.key, Key::Text(_)));
        }
        self.late.forget(late);
        self.abandon(answered - late);
        self.take_ground(now, screen);
    }

    /// Returns how many keys the screen shows, those given up before the others, where it shows no number
    /// of the others alone.
    fn answered(&self, screen: &Screen) -> usize {
        if self.late.is_empty() || self.survey(screen).settled.is_some() {
            return 0;
        }
        let cursor = screen.cursor().position();
        let mut simulation = self.simulation();
        let arrived = self.log.iter().take(self.log.arrived(self.network.arrived));
        let late = self.late.iter().map(|given_up| given_up.key);
        let mut answered = 0;
        for (count, key) in (1..).zip(late.chain(arrived.map(|event| event.key))) {
            if simulation.apply(key) == Effect::Unknown {
                break;
            }
            if simulation.canvas.cursor == cursor && simulation.canvas.agrees(screen) {
                answered = count;
            }
        }
        answered
    }
}
