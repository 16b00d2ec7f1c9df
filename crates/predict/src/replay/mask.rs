//! Prompts that draw a star for each key. Once a prompt was seen to do so, its like is shown stars at once, which
//! tell no more than the host does: how many keys were typed. What was typed is never shown.

use rove_terminal::{Position, Screen};
use rove_units::Instant;

use crate::replay::base::Base;
use crate::replay::canvas::Text;
use crate::replay::id::PromptId;
use crate::replay::memory::Memory;
use crate::scene;

/// So many stars make a prompt one that draws them. Source: the engine's specification, MASK.
const CONFIRMED_MIN: u32 = 2;

/// Most kinds of such prompts that are remembered. Chosen: a session has a few.
const MASKS_MAX: usize = 16;

/// All prompts that were seen to draw stars.
#[derive(Clone, Debug, Default)]
pub(super) struct Masks {
    known: Memory<PromptId, Mask, MASKS_MAX>,
}

/// The sign that one kind of prompt draws.
#[derive(Clone, Copy, Debug)]
struct Mask {
    glyph: char,
    confirmed: u32,
    /// When the prompt began at which it was seen last.
    since: Instant,
    /// Whether enough was seen at prompts before that.
    is_proven: bool,
}

impl Masks {
    /// Returns what such a prompt draws, if prompts before this one have shown it.
    fn find(&self, name: PromptId, since: Instant) -> Option<char> {
        let mask = self.known.find(&name)?;
        let is_proven = mask.since != since && mask.confirmed >= CONFIRMED_MIN;
        (mask.is_proven || is_proven).then_some(mask.glyph)
    }

    /// Returns what is drawn on a base for each key, if prompts before it have shown that.
    pub(super) fn known_at(&self, base: &Base) -> Option<char> {
        let mask = self.find(base.field.context.strong, base.field.since);
        mask.filter(|_| base.field.has_name())
    }

    /// Called when the prompt of a base has drawn so many stars.
    pub(super) fn note_stars(&mut self, base: &Base, glyph: char, count: u16) {
        self.learn(base.field.context.strong, base.field.since, glyph, count.into());
    }

    /// Called when a key did not do what was predicted: no stars are expected here any more.
    pub(super) fn forget(&mut self, name: PromptId) {
        self.known.forget(&name);
    }

    /// Called when a prompt has drawn so many stars.
    fn learn(&mut self, name: PromptId, since: Instant, glyph: char, count: u32) {
        let new = Mask { glyph, confirmed: 0, since, is_proven: false };
        let mask = self.known.entry_or(name, || new);
        if mask.glyph != glyph {
            *mask = new;
        }
        mask.is_proven |= mask.since != since && mask.confirmed >= CONFIRMED_MIN;
        mask.since = since;
        mask.confirmed = mask.confirmed.saturating_add(count);
    }
}

/// Returns the masking character that a screen has for each of the first keys, and for how many; `typed` are the keys that
/// had arrived, up to the first that is no character.
pub(super) fn stars(base: &Base, screen: &Screen, typed: usize) -> Option<(char, u16)> {
    let (from, to) = (base.screen.cursor(), screen.cursor());
    let count = to.column.saturating_sub(from.column);
    if !base.field.has_name() || from.row != to.row || !(1..=typed).contains(&count.into()) {
        return None;
    }
    let at = |column| Position { row: to.row, column };
    let glyph = Text::of(screen, at(from.column)).base.filter(|c| scene::is_mask(*c))?;
    let is_star = |column| {
        Text::of(screen, at(column)) == Text::plain(glyph)
            && Text::of(&base.screen, at(column)).is_blank()
    };
    (from.column..to.column).all(is_star).then_some((glyph, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_stars_at_an_earlier_prompt_are_needed() {
        let at = Instant::from_millis;
        let (mut masks, name) = (Masks::default(), PromptId::default());
        for (since, count, now, later) in
            [(1, 1, None, None), (2, 1, None, Some('*')), (3, 1, Some('*'), Some('*'))]
        {
            masks.learn(name, at(since), '*', count);
            assert_eq!(masks.find(name, at(since)), now, "at {since}");
            assert_eq!(masks.find(name, at(since + 1)), later, "behind {since}");
        }
        masks.learn(name, at(4), '\u{2022}', 1);
        assert_eq!(masks.find(name, at(5)), None, "another star begins anew");
    }
}
