//! Prompts that draw a masking character, such as a star, for each key. The masking character counts as an answer, but
//! is never predicted.

use rove_terminal::{Position, Screen};

use crate::replay::base::Base;
use crate::scene;
use crate::scene::text::Text;

/// Returns for how many of the first keys the screen shows a masking character. `None` if it shows none, or if the
/// field has no prompt. `typed` is the number of characters that have reached the host, up to the first other key.
pub(super) fn stars(base: &Base, screen: &Screen, typed: usize) -> Option<u16> {
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
    (from.column..to.column).all(is_star).then_some(count)
}
