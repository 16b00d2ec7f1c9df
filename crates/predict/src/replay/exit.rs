//! Two characters that end the mode of an editor when they are typed one after the other, as where `jk` stands for Escape.

use rove_terminal::Screen;

use crate::keystroke::Key;
use crate::replay::id::PromptId;
use crate::replay::log::wipe;
use crate::replay::memory::Memory;
use crate::replay::outlook::Outlook;
use crate::replay::simulate::Effect;
use crate::scene;

/// Most editors whose pair is remembered; the one that was used least recently goes. Chosen: a session has one or two.
const EXITS_MAX: usize = 4;

/// The pair that has ended the mode of each editor last.
#[derive(Clone, Debug, Default)]
pub(super) struct Exits {
    known: Memory<PromptId, Option<Pair>, EXITS_MAX>,
}

/// Two characters, wiped when they are forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pair([Key; 2]);

impl Exits {
    /// Called when two characters have ended the mode of an editor.
    pub(super) fn learn(&mut self, editor: PromptId, pair: Pair) {
        *self.known.entry(editor) = Some(pair);
    }

    /// Returns whether a key right after another one may end the mode of an editor.
    pub(super) fn ends(&self, editor: PromptId, before: Option<Key>, key: Key) -> bool {
        let known = self.known.find(&editor).and_then(Option::as_ref);
        known.zip(before).is_some_and(|(pair, before)| pair.0 == [before, key])
    }
}

impl Pair {
    /// Finds the pair that has ended the mode of the editor, if it has ended: the first two characters of those given up
    /// and of those that have arrived which the screen does not show, where it shows all text before them.
    pub(super) fn find(
        outlook: &Outlook<'_>,
        given_up: impl Iterator<Item = Key>,
        screen: &Screen,
    ) -> Option<Self> {
        let base = outlook.base;
        if !base.shows_mode() || scene::editor_mode(screen, &base.field.pane).is_some() {
            return None;
        }
        let mut simulation = outlook.start();
        let is_shown = |key: &Key| {
            matches!(key, Key::Text(_))
                && simulation.apply(*key) == Effect::Drawn
                && simulation.canvas.agrees(screen)
        };
        let mut missing = given_up.chain(outlook.arrived_keys()).skip_while(is_shown);
        match [missing.next()?, missing.next()?] {
            pair @ [Key::Text(_), Key::Text(_)] => Some(Self(pair)),
            _ => None,
        }
    }

    fn wipe(&mut self) {
        self.0.iter_mut().for_each(wipe);
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.wipe();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JK: [Key; 2] = [Key::Text('j'), Key::Text('k')];

    #[test]
    fn the_pair_that_has_ended_a_mode_last_ends_it_in_its_editor_only() {
        let [vi, other] = [1, 2].map(|number| PromptId::of([number]));
        let mut exits = Exits::default();
        assert!(!exits.ends(vi, Some(JK[0]), JK[1]));
        exits.learn(vi, Pair(JK));
        assert!(exits.ends(vi, Some(JK[0]), JK[1]));
        assert!(!exits.ends(other, Some(JK[0]), JK[1]));
        for (before, key) in [(None, JK[1]), (Some(JK[1]), JK[0]), (Some(JK[0]), JK[0])] {
            assert!(!exits.ends(vi, before, key), "{before:?} {key:?}");
        }
        exits.learn(vi, Pair([JK[1], JK[0]]));
        assert!(exits.ends(vi, Some(JK[1]), JK[0]) && !exits.ends(vi, Some(JK[0]), JK[1]));
    }

    #[test]
    fn a_pair_that_is_forgotten_is_wiped() {
        let mut pair = Pair(JK);
        pair.wipe();
        assert_eq!(pair.0, [Key::Other; 2]);
        assert!(core::mem::needs_drop::<Pair>(), "keys alone are dropped as they are");
    }
}
