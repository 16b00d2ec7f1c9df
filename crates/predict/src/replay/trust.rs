//! Decides which predictions are likely enough to be shown. [`crate::secrecy`] decides which characters may be shown at
//! all before their echo.

use crate::replay::base::Base;
use crate::replay::class::Class;
use crate::replay::context::Contexts;
use crate::replay::evidence::Share;
use crate::replay::field::Kind;

/// Counts of right and wrong predictions, added to the real counts for text, Backspace, Left and Right.
const EDITOR: Share = Share { right: 30.0, wrong: 0.3 };
/// Counts like [`EDITOR`], for all other classes of keys at a prompt where such a key was right.
const PROVEN: Share = Share { right: 10.0, wrong: 0.1 };

/// Least weighted number of right recalls at a prompt, from which recalls are shown there. Chosen: two right recalls in
/// a row, of which the older weighs a little less.
const RECALLS_MIN: f32 = 1.9;

/// Least weighted number of characters not inserted as text, from which the program counts as reading commands. The
/// number must also be more than twice that of the inserted ones. Chosen: one or two may fail by chance.
const COMMANDS_MIN: f32 = 3.0;

/// The evidence by which predictions for one screen are trusted enough to be shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trust<'a> {
    pub(super) base: &'a Base,
    pub(super) contexts: &'a Contexts,
    /// The share of right predictions that a class of keys needs to be shown, from 0 to 1.
    pub(super) threshold: f32,
    /// Whether the terminal's modes hide typed characters.
    pub(super) hides_input: bool,
    /// Whether a command may have turned echo off, and nothing was echoed since.
    pub(super) is_echo_off: bool,
    /// Whether [`crate::secrecy`] permits characters here, although fewer than three lines were entered.
    pub(super) begins: bool,
}

impl Trust<'_> {
    /// Returns whether the effects of keys of this class are shown.
    pub(super) fn shows(&self, class: Class) -> bool {
        if class == Class::Command || self.hides_input || self.takes_commands() {
            return false;
        }
        let text = self.shows_text();
        if class == Class::Text {
            return text;
        }
        if matches!(class, Class::ControlLeft | Class::ControlHome) && !self.base.field.is_line() {
            // In screen and tmux, these keys are command prefixes. Elsewhere they may be known as motions.
            return false;
        }
        let score = self.score(class);
        if class.follows_text() && text {
            return score.estimate(EDITOR) >= self.threshold;
        }
        // Keys of other classes must have been right at this prompt.
        let is_proven = score.estimate(PROVEN) >= self.threshold;
        self.knows(class) && is_proven && !self.is_veiled()
    }

    /// Returns whether the program interprets characters as commands.
    pub(super) fn takes_commands(&self) -> bool {
        match self.base.field.kind {
            _ if self.base.is_searching => true,
            Kind::Command => true,
            Kind::Full if !self.base.field.certainty.is_confirmed() => {
                let score = self.score(Class::Text);
                score.wrong >= COMMANDS_MIN && score.wrong > 2.0 * score.right
            }
            _ => false,
        }
    }

    fn shows_text(&self) -> bool {
        if self.base.is_at_bottom() && self.knows(Class::Rise) {
            return false;
        }
        if self.base.field.certainty.confirmed() > u32::from(self.is_careful()) {
            return true;
        }
        // Text must be confirmed in this field if there is a reason for caution.
        if self.is_veiled() || self.is_careful() || self.base.field.certainty.has_doubt() {
            return false;
        }
        let estimate = self.score(Class::Text).estimate(EDITOR);
        (self.base.shows_mode() || self.is_known()) && estimate >= self.threshold
    }

    /// Returns whether characters were confirmed at prompts like this one, or [`Self::begins`] is true.
    fn is_known(&self) -> bool {
        let field = &self.base.field;
        let score = || self.contexts.strong(field.context).score(Class::Text);
        field.has_name() && (self.begins || score().right >= 1.0)
    }

    /// Returns whether predictions for this class were right at this prompt often enough.
    pub(super) fn knows(&self, class: Class) -> bool {
        // A wrong line misleads the user more than a wrong position.
        self.score(class).right >= if class.is_recall() { RECALLS_MIN } else { 1.0 }
    }

    /// Returns whether the user has recently seen a wrong prediction at this prompt.
    fn is_careful(&self) -> bool {
        self.contexts.strong(self.base.field.context).is_careful()
    }

    /// Returns whether the program may read a secret, and no character was confirmed in the field.
    fn is_veiled(&self) -> bool {
        (self.base.field.prompt.is_secret || self.is_echo_off)
            && !self.base.field.certainty.is_confirmed()
    }

    pub(super) fn score(&self, class: Class) -> Share {
        let key = self.base.field.context;
        let strong = self.contexts.strong(key).score(class);
        if key.strong == key.weak {
            return strong;
        }
        let weak = self.contexts.weak(key).score(class);
        // For text, the exact prompt's score is used as soon as it has a count. The shared score includes its counts.
        if class == Class::Text && strong.right + strong.wrong >= 1.0 { strong } else { weak }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Policy, Preference};

    #[test]
    fn a_user_who_always_wants_predictions_sees_less_certain_ones() {
        // After one right prediction, `most` wrong ones are still accepted, and one more is not.
        for (preference, most) in [(Preference::Adaptive, 0), (Preference::Always, 3)] {
            let threshold = Policy::new(preference).threshold();
            let trusts = |wrong: u8| {
                let score = Share { right: 1.0, wrong: f32::from(wrong) };
                score.estimate(EDITOR) >= threshold
            };
            assert!(trusts(most) && !trusts(most + 1), "{preference:?}");
        }
    }
}
