//! Prompts that draw a star for each key. Once a prompt was seen to do so, its like is shown stars at once, which
//! tell no more than the host does: how many keys were typed. What was typed is never shown.

use rove_terminal::{Position, Screen};
use rove_units::Instant;

use crate::keystroke::Key;
use crate::mechanism::Mechanism;
use crate::replay::Replay;
use crate::replay::canvas::Text;
use crate::replay::log::Event;
use crate::scene;

/// So many stars make a prompt one that draws them. Source: the engine's specification, MASK.
const CONFIRMED_MIN: u32 = 2;

/// Most kinds of such prompts that are remembered. Chosen: a session has a few.
const MASKS_MAX: usize = 16;

/// All prompts that were seen to draw stars, the one seen last at the end.
#[derive(Clone, Debug, Default)]
pub(super) struct Masks {
    known: Vec<Mask>,
}

/// What one kind of prompt draws.
#[derive(Clone, Copy, Debug)]
struct Mask {
    name: u64,
    glyph: char,
    confirmed: u32,
    /// When the prompt began at which it was seen last.
    since: Instant,
    /// Whether enough was seen at prompts before that.
    is_proven: bool,
}

impl Masks {
    /// Returns what such a prompt draws, if prompts before this one have shown it.
    fn find(&self, name: u64, since: Instant) -> Option<char> {
        let mask = self.known.iter().find(|mask| mask.name == name)?;
        let is_proven = mask.since != since && mask.confirmed >= CONFIRMED_MIN;
        (mask.is_proven || is_proven).then_some(mask.glyph)
    }

    /// Takes that a prompt has drawn so many stars.
    fn learn(&mut self, name: u64, since: Instant, glyph: char, count: u32) {
        let before = self.known.iter().position(|mask| mask.name == name);
        let before = before.map(|index| self.known.remove(index)).filter(|it| it.glyph == glyph);
        let new = Mask { name, glyph, confirmed: 0, since, is_proven: false };
        let mut mask = before.unwrap_or(new);
        mask.is_proven |= mask.since != since && mask.confirmed >= CONFIRMED_MIN;
        mask.since = since;
        mask.confirmed = mask.confirmed.saturating_add(count);
        if self.known.len() >= MASKS_MAX {
            self.known.remove(0);
        }
        self.known.push(mask);
    }

    fn forget(&mut self, name: u64) {
        self.known.retain(|mask| mask.name != name);
    }
}

impl Replay {
    /// Returns what is drawn here for each key, where that is known, and the host's terminal says that it is
    /// the program that draws.
    pub(super) fn mask(&self) -> Option<char> {
        let is_raw = self.tty.is_some_and(|tty| !tty.hides_input() && !tty.echoes_lines());
        let mask = self.masks.find(self.field.context.strong, self.field.since);
        mask.filter(|_| is_raw && self.field.has_name() && !self.silence.is_silent())
    }

    /// Settles keys for each of which the screen has a star. Returns whether there were any.
    pub(super) fn take_mask(&mut self, screen: &Screen) -> bool {
        let (from, to) = (self.ground.cursor(), screen.cursor());
        let count = to.column.saturating_sub(from.column);
        let arrived = self.log.arrived(self.network.arrived);
        if !self.field.has_name() || from.row != to.row || !(1..=arrived).contains(&count.into()) {
            return false;
        }
        let at = |column| Position { row: to.row, column };
        let Some(glyph) = Text::of(screen, at(from.column)).base.filter(|c| scene::is_mask(*c))
        else {
            return false;
        };
        let is_star = |column| {
            Text::of(screen, at(column)) == Text::plain(glyph)
                && Text::of(&self.ground, at(column)).is_blank()
        };
        let is_text = |event: &Event| matches!(event.key, Key::Text(_));
        let is_hidden = self.log.iter().take(count.into()).all(is_text)
            && (from.column..to.column).all(is_star);
        if is_hidden {
            let (name, since) = (self.field.context.strong, self.field.since);
            if self.has(Mechanism::Masks) {
                self.masks.learn(name, since, glyph, count.into());
            }
            self.secrecy.note_mask(self.field.prompt());
            self.field.line.spoil();
            self.settle(count.into());
        }
        is_hidden
    }

    /// Takes that a key did not do what was predicted: no stars are expected here any more.
    pub(super) fn drop_mask(&mut self) {
        self.masks.forget(self.field.context.strong);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_stars_at_an_earlier_prompt_are_needed() {
        let at = Instant::from_millis;
        let mut masks = Masks::default();
        for (since, count, now, later) in
            [(1, 1, None, None), (2, 1, None, Some('*')), (3, 1, Some('*'), Some('*'))]
        {
            masks.learn(7, at(since), '*', count);
            assert_eq!(masks.find(7, at(since)), now, "at {since}");
            assert_eq!(masks.find(7, at(since + 1)), later, "behind {since}");
        }
        masks.learn(7, at(4), '\u{2022}', 1);
        assert_eq!(masks.find(7, at(5)), None, "another star begins anew");
    }

    #[test]
    fn no_more_is_remembered_than_there_is_room_for() {
        let mut masks = Masks::default();
        for name in 0..=MASKS_MAX {
            masks.learn(u64::try_from(name).unwrap(), Instant::ZERO, '*', 2);
            assert_eq!(masks.known.len(), (name + 1).min(MASKS_MAX));
        }
        assert_eq!(masks.find(0, Instant::from_millis(1)), None);
    }
}
