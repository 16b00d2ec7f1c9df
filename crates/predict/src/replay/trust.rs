//! Decides which predictions are likely enough to be shown. Whether a character may be shown at all is a matter of
//! [`crate::secrecy`].

use crate::replay::base::Base;
use crate::replay::class::Class;
use crate::replay::context::Contexts;
use crate::replay::evidence::Share;
use crate::replay::field::Kind;

/// The prior for a line editor, or for a prompt where keys have come true, before any key.
const EDITOR: Share = Share { right: 30.0, wrong: 0.3 };
/// The prior for a key beside text that has done as predicted here.
const PROVEN: Share = Share { right: 10.0, wrong: 0.1 };

/// So many lines must have come back as expected. Chosen: two in a row, of which the older counts a little less.
const RECALLS_MIN: f32 = 1.9;

/// So many characters that were no text make a program one of commands. Chosen: a word may go wrong by chance.
const COMMANDS_MIN: f32 = 3.0;

/// The belief in keys on one base.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trust<'a> {
    pub(super) base: &'a Base,
    pub(super) contexts: &'a Contexts,
    /// How large a share of such predictions must have come true.
    pub(super) threshold: f32,
    /// Whether the terminal hides what is typed.
    pub(super) hides_input: bool,
    /// Whether the echo was turned off and nothing was echoed since.
    pub(super) is_echo_off: bool,
    /// Whether lines may begin at this prompt, though none was entered at it in this session.
    pub(super) begins: bool,
}

impl Trust<'_> {
    /// Returns whether what keys of this class do is to be shown.
    pub(super) fn shows(&self, class: Class) -> bool {
        if class == Class::Command || self.hides_input || self.takes_commands() {
            return false;
        }
        let text = self.shows_text();
        if class == Class::Text {
            return text;
        }
        if matches!(class, Class::ControlLeft | Class::ControlHome) && !self.base.field.is_line() {
            // Prefixes of commands in screen and tmux, which are known as motions where they are some.
            return false;
        }
        let score = self.score(class);
        if class.follows_text() && text {
            return score.estimate(EDITOR) >= self.threshold;
        }
        // All others have shown what they do here.
        let is_proven = score.estimate(PROVEN) >= self.threshold;
        self.knows(class) && is_proven && !self.is_veiled()
    }

    /// Returns whether characters are commands here, and no text.
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
        // Text has to come true here before more is believed.
        if self.is_veiled() || self.is_careful() || self.base.field.certainty.has_doubt() {
            return false;
        }
        let estimate = self.score(Class::Text).estimate(EDITOR);
        (self.base.shows_mode() || self.is_known()) && estimate >= self.threshold
    }

    /// Returns whether keys have come true at prompts like this one, or lines may begin at it.
    fn is_known(&self) -> bool {
        let field = &self.base.field;
        let score = || self.contexts.strong(field.context).score(Class::Text);
        field.has_name() && (self.begins || score().right >= 1.0)
    }

    /// Returns whether keys of this class have done here what they are supposed to.
    pub(super) fn knows(&self, class: Class) -> bool {
        // A wrong line misleads more than a wrong place.
        self.score(class).right >= if class.is_recall() { RECALLS_MIN } else { 1.0 }
    }

    /// Returns whether something wrong was seen here not long ago.
    fn is_careful(&self) -> bool {
        self.contexts.strong(self.base.field.context).is_careful()
    }

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
        // Experience from here counts in both.
        if class == Class::Text && strong.right + strong.wrong >= 1.0 { strong } else { weak }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Policy, Preference};

    #[test]
    fn a_user_who_always_wants_predictions_sees_less_certain_ones() {
        // Where keys have come true at once, these many that did not are too many.
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
