//! The keys on their way and the base that they are played on: all that a model may see.

use rove_terminal::{Position, Screen};

use crate::keystroke::Key;
use crate::network::InputNum;
use crate::replay::base::Base;
use crate::replay::log::Log;
use crate::replay::motion::Guide;
use crate::replay::simulate::{Habits, Simulation};
use crate::scene::text::Text;

/// The keys on their way, where they are typed, and how they are believed to be taken there.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingKeys<'a> {
    pub(super) base: &'a Base,
    pub(super) log: &'a Log,
    /// The newest input that the host has.
    pub(super) arrived: InputNum,
    pub(super) habits: Habits<'a>,
    pub(super) guide: Option<&'a dyn Guide>,
}

impl<'a> PendingKeys<'a> {
    /// Returns the same where keys are taken in another way.
    pub(super) const fn with(self, habits: Habits<'a>) -> Self {
        Self { habits, ..self }
    }

    /// Returns the field as the first key finds it.
    pub(super) fn start(&self) -> Simulation<'a> {
        Simulation::new(&self.base.screen, &self.base.field, self.habits)
            .guided(self.guide, self.base.goal)
    }

    /// Returns the field after the first `count` keys, of which those of unknown effect do nothing.
    pub(super) fn after(&self, count: usize) -> Simulation<'a> {
        let mut simulation = self.start();
        for event in self.log.iter().take(count) {
            simulation.apply(event.key);
        }
        simulation
    }

    /// Returns the keys that have arrived.
    pub(super) fn arrived_keys(&self) -> Vec<Key> {
        self.log.iter().take(self.log.arrived(self.arrived)).map(|event| event.key).collect()
    }

    /// Returns whether another text has come to where something is predicted that the user has seen.
    pub(super) fn conflicts(&self, screen: &Screen) -> bool {
        let shown = self.log.iter().take_while(|event| event.shown).count();
        self.after(shown).canvas.conflicts(screen)
    }

    /// Returns whether the first keys write text that was not there.
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
