//! The pending keys, and the base on which they are simulated: everything that a model may read.

use rove_terminal::{InputNum, Key, Position, Screen};

use crate::replay::base::Base;
use crate::replay::log::Log;
use crate::replay::motion::Guide;
use crate::replay::simulate::{Habits, Simulation};
use crate::scene::text::Text;

/// The pending keys, the base on which they are simulated, and the known habits of the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingKeys<'a> {
    pub(super) base: &'a Base,
    pub(super) log: &'a Log,
    /// The newest input that has reached the host.
    pub(super) arrived: InputNum,
    pub(super) habits: Habits<'a>,
    /// The known motions of the window. `None` if none are known.
    pub(super) guide: Option<&'a dyn Guide>,
}

impl<'a> PendingKeys<'a> {
    /// Returns these keys, to be simulated as for a program with other habits.
    pub(super) const fn with(self, habits: Habits<'a>) -> Self {
        Self { habits, ..self }
    }

    /// Returns the simulation in its state before the first key.
    pub(super) fn start(&self) -> Simulation<'a> {
        Simulation::new(&self.base.screen, &self.base.field, self.habits)
            .guided(self.guide, self.base.goal)
    }

    /// Returns the simulation in its state after the first `count` keys. Keys of unknown effect do not change it.
    pub(super) fn after(&self, count: usize) -> Simulation<'a> {
        debug_assert!(count <= self.log.len(), "the keys that are played wait");
        let mut simulation = self.start();
        for event in self.log.iter().take(count) {
            simulation.apply(event.key);
        }
        simulation
    }

    pub(super) fn arrived_keys(&self) -> Vec<Key> {
        self.log.iter().take(self.log.arrived(self.arrived)).map(|event| event.key).collect()
    }

    /// Returns whether a screen contradicts a prediction that the user has seen.
    pub(super) fn conflicts(&self, screen: &Screen) -> bool {
        let shown = self.log.iter().take_while(|event| event.shown).count();
        self.after(shown).canvas.conflicts(screen)
    }

    /// Returns whether the first `count` keys are characters, and the screen has new text where they were typed.
    pub(super) fn writes(&self, count: usize, screen: &Screen) -> bool {
        let cursor = screen.cursor();
        let before = self.base.screen.cursor();
        let columns = before.column..cursor.column;
        let is_news = |column| {
            let at = Position { row: cursor.row, column };
            !Text::of(screen, at).is_blank()
                && Text::of(screen, at) != Text::of(&self.base.screen, at)
        };
        let is_text = self.log.iter().take(count).all(|event| matches!(event.key, Key::Text(_)));
        is_text && before.row == cursor.row && columns.into_iter().any(is_news)
    }
}
