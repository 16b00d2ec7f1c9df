//! Suggestions without colours: most are painted in grey, but some programs are only found out by what they do. Text
//! appears behind the cursor that nobody has typed.

use rove_terminal::{Position, Screen};

use crate::replay::base::Base;
use crate::replay::canvas::Text;
use crate::replay::class::Class;
use crate::replay::simulate::Effect;
use crate::replay::timeline::Timeline;

/// Signs that some editors add to the typed text. No program suggests one of these alone.
const CLOSERS: [char; 7] = [')', ']', '}', '>', '"', '\'', '`'];

/// Returns what a screen that shows keys tells of suggestions, and whether it speaks for them; `suggests` tells whether the
/// program is known to make any.
pub(super) fn observe(
    timeline: &Timeline<'_>,
    base: &Base,
    screen: &Screen,
    suggests: bool,
) -> Option<(Class, bool)> {
    let last = timeline.steps.last().filter(|_| base.field.is_line())?;
    let taken = last.taken?;
    if timeline.steps.iter().any(|step| step.effect == Effect::Unknown) {
        return None;
    }
    let cursor = timeline.end.canvas.cursor;
    if !timeline.end.is_at_end() || cursor.row != screen.cursor().row {
        return None;
    }
    match Class::of(last.key) {
        Class::Backspace if suggests && taken.is_some() => {
            Some((Class::Regrowth, Text::of(screen, cursor).base == taken))
        }
        Class::Text if appears(base, screen, cursor) => Some((Class::Suggestion, true)),
        _ => None,
    }
}

/// Returns whether text stands at a place of the screen that was blank, and is more than an editor adds.
fn appears(base: &Base, screen: &Screen, at: Position) -> bool {
    let next = Position { column: at.column + 1, ..at };
    let is_closer = |c: char| CLOSERS.contains(&c) && Text::of(screen, next).is_blank();
    let text = Text::of(screen, at);
    Text::of(&base.screen, at).is_blank() && text.base.is_some_and(|c| !is_closer(c))
}
