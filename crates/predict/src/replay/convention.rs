//! Keys that line editors take alike: what one of them has shown counts for the others, and for the next editor.
//!
//! The kernel's own keys, for a line and for a word, do the same in all of them, as long as it does not matter
//! where a word ends or whether what is right of the cursor goes, too. Those of Emacs belong together: who has
//! bound one of them has bound all.

use crate::replay::class::Class;
use crate::replay::evidence::Share;
use crate::replay::field::{Field, Kind};
use crate::replay::simulate::Simulation;

/// Keys of Emacs that editors have in common, if any. Source: the defaults of readline, zsh, fish and
/// prompt toolkits; those that go by words differ in what a word is.
const LETTERS: [Class; 5] = [
    Class::ControlLeft,
    Class::ControlRight,
    Class::ControlHome,
    Class::ControlEnd,
    Class::KillToEnd,
];

/// The knowledge of them in all line editors together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Conventions {
    letters: Share,
}

impl Conventions {
    /// Called when a key did, or did not do, in a line editor what was predicted.
    pub(super) fn learn(&mut self, class: Class, is_right: bool) {
        if LETTERS.contains(&class) {
            self.letters.add(is_right);
        }
    }

    /// Returns whether a key is believed to do what it does in other line editors. `score` tells what keys have done in
    /// this one.
    pub(super) fn allows(
        &self,
        class: Class,
        field: &Field,
        simulation: &Simulation<'_>,
        score: impl Fn(Class) -> Share,
    ) -> bool {
        // Where it begins must be known: what stands there otherwise may be part of it.
        let has_start = field.has_name() && !field.begins_behind_word() && !field.is_foggy;
        let is_plain =
            field.kind == Kind::Line && has_start && !field.is_escaped && simulation.is_row();
        if !is_plain || score(class).wrong > 0.0 {
            return false;
        }
        match class {
            Class::KillLine => simulation.is_at_end(),
            Class::KillWord => simulation.is_behind_plain_word(),
            Class::WordLeft | Class::KillWordLeft => {
                simulation.is_behind_plain_word() && self.has_letters(score)
            }
            Class::ControlD => !simulation.is_at_end() && self.has_letters(score),
            _ => LETTERS.contains(&class) && self.has_letters(score),
        }
    }

    /// Returns whether the keys of Emacs are bound here, as far as is known.
    fn has_letters(&self, score: impl Fn(Class) -> Share) -> bool {
        let scores = LETTERS.map(score);
        let everywhere = self.letters;
        let is_known = scores.iter().any(|score| score.right >= 1.0)
            || everywhere.right >= 1.0 && everywhere.wrong < everywhere.right;
        is_known && scores.iter().all(|score| score.wrong <= score.right)
    }
}
