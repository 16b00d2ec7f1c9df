//! What is learned of suggestions. Most are painted in grey, but there are programs without colours, which
//! are found out by what they do: text appears behind the cursor that nobody has typed.

use rove_terminal::{Position, Screen};

use crate::mechanism::Mechanism;
use crate::replay::Replay;
use crate::replay::canvas::Text;
use crate::replay::class::Class;
use crate::replay::simulate::Effect;

/// What some editors add themselves to what is typed. Nobody suggests one of these alone.
const CLOSERS: [char; 7] = [')', ']', '}', '>', '"', '\'', '`'];

impl Replay {
    /// Returns whether what was taken back is suggested here. Until it is known, it is not.
    pub(super) fn regrows(&self) -> bool {
        let score = self.score(Class::Regrowth);
        score.right > score.wrong
    }

    /// Learns whether the program suggests something, from a screen that shows what the first keys do.
    pub(super) fn note_suggestion(&mut self, screen: &Screen, count: usize) {
        let Some(last) = count.checked_sub(1) else { return };
        if !self.field.is_line() {
            return;
        }
        let mut simulation = self.simulation();
        let mut before = None;
        for (index, event) in self.log.iter().take(count).enumerate() {
            if index == last {
                before = simulation.is_at_end().then(|| simulation.text_before_cursor());
            }
            if simulation.apply(event.key) == Effect::Unknown {
                return;
            }
        }
        let (Some(taken), Some(event)) = (before, self.log.iter().nth(last)) else { return };
        let cursor = simulation.canvas.cursor;
        if !simulation.is_at_end() || cursor.row != screen.cursor().row {
            return;
        }
        let shown = Text::of(screen, cursor);
        match Class::of(event.key) {
            Class::Backspace if self.habits().suggests && taken.is_some() => {
                let is_regrown = shown.base == taken;
                self.learn_suggestion(Class::Regrowth, is_regrown);
            }
            Class::Text if self.appears(screen, cursor) => {
                self.learn_suggestion(Class::Suggestion, true);
            }
            _ => {}
        }
    }

    /// Learns whether something is suggested here, or the text that was taken back is.
    fn learn_suggestion(&mut self, class: Class, is_right: bool) {
        if self.has(Mechanism::PlainSuggestions) {
            self.contexts.learn(self.field.context, class, is_right);
        }
    }

    /// Returns whether text stands at a place of the screen that was blank, and is more than an editor adds.
    fn appears(&self, screen: &Screen, at: Position) -> bool {
        let next = Position { column: at.column + 1, ..at };
        let is_closer = |c: char| CLOSERS.contains(&c) && Text::of(screen, next).is_blank();
        let text = Text::of(screen, at);
        Text::of(&self.ground, at).is_blank() && text.base.is_some_and(|c| !is_closer(c))
    }

    /// Parts what is suggested from what was typed, where only that was typed tells it.
    pub(super) fn part_suggestion(&mut self) {
        let Some(column) = self.field.place_of_cursor(&self.ground) else { return };
        let is_new = self.field.reach > 0 && self.field.suggested.is_some();
        if !self.knows(Class::Suggestion) {
            if is_new && column >= self.field.reach {
                self.learn_suggestion(Class::Suggestion, true);
            }
            return;
        }
        self.field.part_suggestion(column);
    }
}
