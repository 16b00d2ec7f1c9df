//! Which predictions are seen.

use crate::replay::Replay;
use crate::replay::class::Class;
use crate::replay::context::Score;
use crate::replay::field::Kind;

/// What is seen comes true at least this often. Source: docs of the engine, when to show.
const SHOWN_FROM: f32 = 0.985;

/// What is believed of a line editor, or of a prompt where keys have come true, before any key.
const EDITOR: Score = Score { right: 30.0, wrong: 0.3 };
/// Of another program on the whole screen.
const FULL: Score = Score { right: 0.5, wrong: 2.0 };
/// Of anything else.
const UNKNOWN: Score = Score { right: 2.0, wrong: 1.0 };
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
        let text = self.trusts_text();
        if class == Class::Text {
            return text;
        }
        let score = self.score(class);
        if class.follows_text() && text {
            return score.estimate(EDITOR) >= SHOWN_FROM;
        }
        // All others have shown what they do here.
        self.knows(class) && score.estimate(PROVEN) >= SHOWN_FROM && !self.is_veiled()
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
        let is_doubted = self.field.is_doubted || self.field.is_escaped;
        if self.is_veiled() || is_careful || is_doubted {
            return false;
        }
        if self.field.kind == Kind::Kernel {
            // It is what the host was like some time ago, and a question may be about to come that turns the
            // echo off.
            return self.is_settled;
        }
        let score = self.score(Class::Text);
        let prior = match self.field.kind {
            Kind::Insert | Kind::Replace => EDITOR,
            _ if self.is_known() => EDITOR,
            Kind::Line if self.is_first_line() => EDITOR,
            Kind::Full | Kind::Command => FULL,
            // Some ask for secrets as line editors do for lines.
            Kind::Line | Kind::Unknown | Kind::Kernel => UNKNOWN,
        };
        score.estimate(prior) >= SHOWN_FROM
    }

    /// Returns whether no line was entered yet, so that nothing but a shell can be what asks.
    fn is_first_line(&self) -> bool {
        self.entered.is_none_or(|input| input > self.network.arrived)
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

    fn score(&self, class: Class) -> Score {
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
