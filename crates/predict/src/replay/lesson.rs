//! Keys that only move or delete, in programs on the whole screen: what each does there is tried unseen
//! when its answer comes, and predicted from then on if it was that.

use rove_terminal::Screen;

use crate::keystroke::Key;
use crate::mechanism::Mechanism;
use crate::replay::Replay;
use crate::replay::class::{self, Class};
use crate::replay::field::Kind;
use crate::replay::simulate::{Effect, Habits, Simulation};

/// Those that mean the same in most programs, if anything.
const CLASSES: [Class; 9] = [
    Class::Home,
    Class::End,
    Class::ControlHome,
    Class::ControlEnd,
    Class::WordLeft,
    Class::WordRight,
    Class::Delete,
    Class::ControlD,
    Class::KillToEnd,
];

/// A set of kinds of keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Learned(u32);

const _: () = assert!(class::CLASSES <= u32::BITS as usize);

impl Learned {
    pub(super) const fn contains(self, class: Class) -> bool {
        self.0 & (1 << class.index()) != 0
    }

    fn of(classes: impl Iterator<Item = Class>) -> Self {
        Self(classes.fold(0, |set, class| set | 1 << class.index()))
    }
}

impl Replay {
    /// Returns those that have shown what they do here.
    pub(super) fn learned(&self) -> Learned {
        if self.is_unbounded() {
            Learned::of(CLASSES.into_iter().filter(|class| self.has_shown(*class)))
        } else {
            Learned::default()
        }
    }

    /// Takes that a key of unknown effect, the first of all, has led to a screen.
    pub(super) fn learn_key(&mut self, key: Key, screen: &Screen) {
        let class = Class::of(key);
        let is_learned = self.has(Mechanism::ScreenKeys) && self.is_unbounded();
        if !is_learned || !CLASSES.contains(&class) || self.takes_commands() {
            return;
        }
        let habits = Habits { learned: Learned::of(CLASSES.into_iter()), ..self.habits() };
        let mut simulation = Simulation::new(&self.ground, &self.field, habits);
        if simulation.apply(key) != Effect::Drawn {
            return;
        }
        let cursor = screen.cursor().position();
        let is_right = simulation.canvas.cursor == cursor && simulation.canvas.agrees(screen);
        // Behind it may stand the answers to others.
        if is_right || self.log.arrived(self.network.arrived) <= 1 {
            self.contexts.learn(self.field.context, class, is_right);
        }
    }

    /// Returns whether the keys go to a text that goes on beyond the row.
    fn is_unbounded(&self) -> bool {
        matches!(self.field.kind, Kind::Full | Kind::Insert | Kind::Replace)
    }
}
