//! Which predictions are seen.

use crate::keystroke::Key;
use crate::replay::Replay;
use crate::replay::class::Class;
use crate::replay::context::Score;
use crate::replay::field::Kind;
use crate::replay::history::Way;

/// What is believed of a line editor, or of a prompt where keys have come true, before any key.
const EDITOR: Score = Score { right: 30.0, wrong: 0.3 };
/// Of a key beside text that has done as predicted here.
const PROVEN: Score = Score { right: 10.0, wrong: 0.1 };

/// So many characters that were no text make a program one of commands. Chosen: a word may go wrong by chance.
const COMMANDS_MIN: f32 = 3.0;

impl Replay {
    /// Returns whether what keys of this class do here is to be seen.
    pub(super) fn trusts(&self, class: Class) -> bool {
        if class == Class::Command || self.hides_input() || self.takes_commands() {
            return false;
        }
        if self.mask().is_some() {
            return matches!(class, Class::Text | Class::Backspace);
        }
        let text = self.trusts_text();
        if class == Class::Text {
            return text;
        }
        if matches!(class, Class::ControlLeft | Class::ControlHome) && !self.field.is_line() {
            // Prefixes of commands in screen and tmux, which are known as motions where they are some.
            return false;
        }
        let score = self.score(class);
        if (class.follows_text() || class == Class::Unindent) && text {
            return score.estimate(EDITOR) >= self.policy.threshold();
        }
        // All others have shown what they do here.
        self.has_shown(class) && !self.is_veiled()
    }

    /// Returns whether what a key of this class does here is to be seen.
    pub(super) fn trusts_key(&self, class: Class, key: Key) -> bool {
        if Way::of(key).is_none() {
            return self.trusts(class);
        }
        // Which lines come back is known only where they have come back before.
        let is_careful = self.contexts.strong(self.field.context).is_careful();
        !self.hides_input() && !self.is_veiled() && !is_careful
    }

    /// Returns whether keys of this class have shown what they do here, and did little else.
    pub(super) fn has_shown(&self, class: Class) -> bool {
        let is_proven = self.score(class).estimate(PROVEN) >= self.policy.threshold();
        self.knows(class) && is_proven
    }

    /// Returns whether characters are commands here, and no text.
    pub(super) fn takes_commands(&self) -> bool {
        match self.field.kind {
            _ if self.is_searching => true,
            Kind::Command => true,
            Kind::Full if self.field.confirmed == 0 => {
                let score = self.score(Class::Text);
                score.wrong >= COMMANDS_MIN && score.wrong > 2.0 * score.right
            }
            _ => false,
        }
    }

    fn trusts_text(&self) -> bool {
        let is_careful = self.contexts.strong(self.field.context).is_careful();
        if self.field.confirmed > u32::from(is_careful) {
            return true;
        }
        if self.is_wary() {
            return false;
        }
        let is_editor = matches!(self.field.kind, Kind::Insert | Kind::Replace);
        let estimate = self.score(Class::Text).estimate(EDITOR);
        (is_editor || self.is_known()) && estimate >= self.policy.threshold()
    }

    /// Returns whether text has to come true here before more is believed.
    pub(super) fn is_wary(&self) -> bool {
        let is_careful = self.contexts.strong(self.field.context).is_careful();
        self.is_veiled() || is_careful || self.field.is_doubted || self.field.is_escaped
    }

    /// Returns whether keys have come true at prompts like this one.
    pub(super) fn is_known(&self) -> bool {
        let key = self.field.context;
        self.field.has_name() && self.contexts.strong(key).score(Class::Text).right >= 1.0
    }

    /// Returns whether keys of this class have done here what they are supposed to.
    pub(super) fn knows(&self, class: Class) -> bool {
        self.score(class).right >= 1.0
    }

    fn is_veiled(&self) -> bool {
        (self.field.is_secret || self.silence.is_silent()) && self.field.confirmed == 0
    }

    pub(super) fn score(&self, class: Class) -> Score {
        let key = self.field.context;
        let strong = self.contexts.strong(key).score(class);
        if key.strong == key.weak {
            return strong;
        }
        let weak = self.contexts.weak(key).score(class);
        // What was learned here counts in both.
        if class == Class::Text && strong.right + strong.wrong >= 1.0 { strong } else { weak }
    }
}

#[cfg(test)]
mod tests {
    use rove_terminal::Size;

    use super::*;
    use crate::policy::{Prediction, Preference};

    #[test]
    fn who_always_wants_to_see_predictions_sees_less_certain_ones() {
        // Where keys have come true at once, these many that did not are too many.
        for (preference, most) in [(Preference::Adaptive, 0), (Preference::Always, 3)] {
            let prediction = Prediction { preference, ..Prediction::default() };
            let replay = Replay::new(prediction, Size::DEFAULT);
            let trusts = |wrong: u8| {
                let score = Score { right: 1.0, wrong: f32::from(wrong) };
                score.estimate(EDITOR) >= replay.policy.threshold()
            };
            assert!(trusts(most) && !trusts(most + 1), "{preference:?}");
        }
    }
}
