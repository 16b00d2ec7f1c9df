//! Determines whether and how input has continued after the end of a row, or whether the row has scrolled sideways.

use rove_terminal::{Key, Position, Screen};

use crate::replay::base::Base;
use crate::replay::class::Effect;
use crate::replay::field::Field;
use crate::replay::layout::Crossing;
use crate::replay::simulate::{Habits, Simulation};
use crate::scene::text::Text;

/// How many of a line's last characters must be before the cursor as proof of a sideways scroll. Chosen: a program
/// without echo does not draw so many of them.
const SCROLLED_MIN: usize = 8;

/// Returns whether the screen may show a key typed at the right edge: its character, with the cursor still on it.
pub(super) fn waits_at_edge(base: &Base, screen: &Screen, key: Key) -> bool {
    let at = screen.cursor().position();
    let Key::Text(c) = key else { return false };
    at.column + 1 == base.field.bounds.pane.right
        && Text::of(screen, at) == Text::plain(c)
        && Text::of(&base.screen, at) != Text::plain(c)
}

/// Returns whether the keys end in a word that has moved to the next row, below the text that precedes it.
pub(super) fn is_broken(base: &Base, keys: &[Key], screen: &Screen) -> bool {
    let text = |screen: &Screen, row, end| -> String {
        let columns = base.field.bounds.left..end;
        columns.filter_map(|column| Text::of(screen, Position { row, column }).base).collect()
    };
    let (from, to) = (base.screen.cursor(), screen.cursor());
    let above = text(screen, to.row.saturating_sub(1), base.field.bounds.pane.right);
    let below = text(screen, to.row, to.column);
    let mut typed = text(&base.screen, from.row, from.column);
    let is_text = |key: &&Key| matches!(key, Key::Text(_));
    let is_moved = |key: &Key| {
        typed.extend(if let Key::Text(c) = key { Text::plain(*c).base } else { None });
        typed.strip_prefix(above.as_str()) == Some(below.as_str())
    };
    let may_be = !base.field.is_line() && !above.is_empty() && !below.is_empty();
    may_be && keys.iter().take_while(is_text).any(is_moved)
}

/// Returns how many of `keys` were echoed in a line that has scrolled sideways. `None` if fewer than `due` were.
pub(super) fn scrolled(base: &Base, keys: &[Key], due: usize, screen: &Screen) -> Option<usize> {
    let text = |screen: &Screen| -> Vec<char> {
        let Position { row, column } = screen.cursor().position();
        let columns = base.field.bounds.pane.left..column;
        let base = |column| Text::of(screen, Position { row, column }).base;
        columns.map(|column| base(column).unwrap_or(' ')).collect()
    };
    let (from, to) = (base.screen.cursor().position(), screen.cursor().position());
    let (mut typed, shown) = (text(&base.screen), text(screen));
    let mut is_there = |(count, key): &(usize, &Key)| {
        typed.extend(if let Key::Text(c) = key { Some(*c) } else { None });
        let pairs = typed.iter().rev().zip(shown.iter().rev());
        let is_moved = usize::from(to.column) < usize::from(from.column) + count;
        is_moved && *count >= due && pairs.take_while(|(a, b)| a == b).count() >= SCROLLED_MIN
    };
    let is_text = |(_, key): &(usize, &Key)| matches!(key, Key::Text(_));
    let found = (1..).zip(keys).take_while(is_text).filter(|it| is_there(it)).last();
    found.map(|(count, _)| count).filter(|_| from.row == to.row)
}

/// Determines whether the text of `keys`, which have reached the host, continues in the next row in a way that was
/// unknown. Returns the field including that row, or `None` if the text does not.
pub(super) fn discover(
    base: &Base,
    habits: Habits<'_>,
    keys: &[Key],
    screen: &Screen,
) -> Option<(Field, Crossing)> {
    if base.field.bounds.is_bounded {
        return None;
    }
    let mut field = base.field.clone();
    field.lay_out();
    let known = base.field.wrap.map(|wrap| wrap.is_lazy);
    let first = known.unwrap_or_default();
    let crossing = [first, !first].into_iter().find_map(|is_lazy| {
        let habits =
            Habits { goes_on: true, is_lazy, scrolls: true, takes_commands: false, ..habits };
        goes_on(Simulation::new(&base.screen, &field, habits), base, keys, screen)
    })?;
    (known != Some(crossing.is_lazy)).then_some((field, crossing))
}

/// Returns what the screen shows about the next row, if keys continue there as simulated. Otherwise returns `None`.
fn goes_on(
    mut simulation: Simulation<'_>,
    base: &Base,
    keys: &[Key],
    screen: &Screen,
) -> Option<Crossing> {
    let mut found = None;
    for key in keys.iter().copied() {
        let at = simulation.bounds.layout.at(simulation.column());
        if simulation.apply(key) == Effect::Unknown {
            break;
        }
        // A character that the base screen has in this place proves nothing. A typed blank always counts.
        let Key::Text(c) = key else { continue };
        let is_news = c == ' ' || Text::of(&base.screen, at) != Text::plain(c);
        let canvas = &simulation.canvas;
        let is_there = canvas.cursor == screen.cursor().position();
        if simulation.crosses && is_news && is_there && canvas.agrees(screen) {
            found = Some(simulation.crossing());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use rove_terminal::{Size, Terminal};

    use super::*;

    #[test]
    fn a_line_has_moved_sideways_only_if_its_newest_characters_are_there() {
        let screen = |row: &str| {
            let mut host = Terminal::host(Size::new(30, 4).unwrap());
            host.write(row.as_bytes());
            host.snapshot()
        };
        let base = Base {
            screen: screen("$ echo some words of a "),
            ..Base::new(Size::new(30, 4).unwrap())
        };
        for (row, keys, due, expected) in [
            ("words of a se", "se", 2, Some(2)),
            ("words of a se", "sec", 2, Some(2)),
            ("$ words of a se", "se", 1, Some(2)),
            ("some words of a ", "se", 2, None),
            ("words of a s", "se", 2, None),
            ("words of a **", "se", 2, None),
            ("other text se", "se", 2, None),
            ("of a se", "se", 2, None),
            ("\r\nwords of a se", "se", 2, None),
        ] {
            let keys: Vec<Key> = keys.chars().map(Key::Text).collect();
            assert_eq!(
                scrolled(&base, &keys, due, &screen(row)),
                expected,
                "{row:?} after {keys:?}"
            );
        }
    }
}
