//! Pairs of characters that end an editor's insert mode if typed in succession, as where `jk` is mapped to Escape.

use rove_terminal::{Key, Screen};

use crate::replay::class::Effect;
use crate::replay::id::PromptId;
use crate::replay::log::wipe;
use crate::replay::memory::Memory;
use crate::replay::pending_keys::PendingKeys;
use crate::scene;
use crate::scene::text::Text;

/// Most editors whose typed pair for Escape (`jk`) is remembered, the last used. Chosen: a session has one or two.
const EXITS_MAX: usize = 4;

/// The pair that last ended the insert mode of each editor.
#[derive(Clone, Debug, Default)]
pub(super) struct Exits {
    known: Memory<PromptId, Option<Pair>, EXITS_MAX>,
}

/// Finds a character that an editor holds back, because with the next key it may end the mode. The editor draws it at
/// the cursor without moving the cursor. Returns the character's index among the pending keys, and the screen without
/// it. `None` without such a character, or if the next key is due too, because the editor may hang.
pub(super) fn held(pending: &PendingKeys<'_>, screen: &Screen) -> Option<(usize, Screen)> {
    let at = screen.cursor().position();
    let shown = Text::of(screen, at);
    if !pending.base.shows_mode() || shown.is_blank() {
        return None;
    }
    let mut simulation = pending.start();
    for (index, key) in pending.arrived_keys().into_iter().enumerate() {
        let canvas = &simulation.canvas;
        let is_held = canvas.cursor == at && canvas.text(at) != shown;
        let is_next_due = index + 1 < pending.log.due();
        if is_held && !is_next_due && matches!(key, Key::Text(c) if Text::plain(c) == shown) {
            let (mut before, mut screen) = (canvas.screen().clone(), screen.clone());
            canvas.draw(&mut before, false);
            screen.put(at, &before.glyph(at)?);
            return canvas.agrees(&screen).then_some((index, screen));
        }
        if simulation.apply(key) == Effect::Unknown {
            break;
        }
    }
    None
}

/// Two characters that end an insert mode. They are wiped from memory when they are dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pair([Key; 2]);

impl Exits {
    /// Records that two characters have ended the insert mode of an editor.
    pub(super) fn learn(&mut self, editor: PromptId, pair: Pair) {
        *self.known.entry(editor) = Some(pair);
    }

    /// Returns whether `key` may end an editor's insert mode, together with `next` or (`None`) with a future key.
    pub(super) fn may_end(&self, editor: PromptId, key: Key, next: Option<Key>) -> bool {
        let known = self.known.find(&editor).and_then(Option::as_ref);
        known.is_some_and(|pair| pair.0 == [key, next.unwrap_or(pair.0[1])])
    }
}

impl Pair {
    /// Returns the pair that has ended the editor's insert mode, if the mode has ended. The pair is the first two
    /// arrived characters that the screen does not show. The screen must show all earlier text. If a held character has
    /// disappeared (`is_gone`), the mode has ended too, although the editor may have begun it again.
    pub(super) fn find(pending: &PendingKeys<'_>, screen: &Screen, is_gone: bool) -> Option<Self> {
        let base = pending.base;
        let has_ended = is_gone || scene::editor_mode(screen, &base.field.bounds.pane).is_none();
        if !base.shows_mode() || !has_ended {
            return None;
        }
        let mut simulation = pending.start();
        let is_shown = |key: &Key| {
            matches!(key, Key::Text(_))
                && simulation.apply(*key) == Effect::Drawn
                && simulation.canvas.agrees(screen)
        };
        let mut missing = pending.arrived_keys().into_iter().skip_while(is_shown);
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
    fn the_pair_that_has_ended_a_mode_last_may_end_it_in_its_editor_only() {
        let [vi, other] = [1, 2].map(|number| PromptId::of([number]));
        let mut exits = Exits::default();
        assert!(!exits.may_end(vi, JK[0], Some(JK[1])));
        exits.learn(vi, Pair(JK));
        assert!(exits.may_end(vi, JK[0], Some(JK[1])) && exits.may_end(vi, JK[0], None));
        assert!(!exits.may_end(other, JK[0], Some(JK[1])));
        for (key, next) in [(JK[1], None), (JK[1], Some(JK[0])), (JK[0], Some(JK[0]))] {
            assert!(!exits.may_end(vi, key, next), "{key:?} {next:?}");
        }
        exits.learn(vi, Pair([JK[1], JK[0]]));
        assert!(exits.may_end(vi, JK[1], None) && !exits.may_end(vi, JK[0], None));
    }

    #[test]
    fn a_pair_that_is_forgotten_is_wiped() {
        let mut pair = Pair(JK);
        pair.wipe();
        assert_eq!(pair.0, [Key::Other; 2]);
        assert!(core::mem::needs_drop::<Pair>(), "keys alone are dropped as they are");
    }
}
