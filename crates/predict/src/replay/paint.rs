//! How predicted characters are painted: as highlighters have painted their like. Colours never decide whether
//! a prediction is right, and nothing is painted anew that stands on the screen.

use std::collections::VecDeque;

use rove_terminal::{Attributes, Cell, Color, Pen, Position, Screen};

use crate::keystroke::Key;
use crate::mechanism::Mechanism;
use crate::replay::Replay;
use crate::replay::canvas::{Canvas, Text, cell, mix};
use crate::replay::field::Field;
use crate::replay::simulate::Effect;
use crate::scene;

/// Most kinds of prompts and editors whose colours are remembered. Chosen: a session has a handful.
const PALETTES_MAX: usize = 16;

/// Most beginnings of words that are remembered in one. Chosen: those of a hundred commands.
const PREFIXES_MAX: usize = 512;

/// Most other characters: those that are no letters, in ASCII.
const MARKS_MAX: usize = 40;

/// Most rows above and below a word in which it is looked for.
const REACH_ROWS: u16 = 24;

/// What is remembered of colours, by the kind of place they were seen in.
#[derive(Clone, Debug, Default)]
pub(super) struct Palettes {
    known: VecDeque<(u64, Palette)>,
    empty: Palette,
}

/// The colours that typed characters had at first.
#[derive(Clone, Debug, Default)]
struct Palette {
    /// Those of the first letter of a line's first word, and of its other words.
    fresh: [Option<Pen>; 2],
    /// Those of other characters.
    marks: Vec<(char, Pen)>,
    /// Those of the last letters of what words begin with, by its hash.
    prefixes: VecDeque<(u64, Pen)>,
}

/// Where a character stands in its row.
struct Place<'a> {
    /// What stands before it.
    before: &'a [Cell],
    base: char,
    /// Where in that the word begins that it belongs to.
    word_start: usize,
}

impl Palettes {
    fn find(&self, name: u64) -> &Palette {
        let found = self.known.iter().find(|(known, _)| *known == name);
        found.map_or(&self.empty, |(_, palette)| palette)
    }

    fn entry(&mut self, name: u64) -> &mut Palette {
        let index = self.known.iter().position(|(known, _)| *known == name);
        let palette = index.and_then(|index| self.known.remove(index));
        if self.known.len() >= PALETTES_MAX {
            self.known.pop_front();
        }
        self.known.push_back(palette.unwrap_or((name, Palette::default())));
        &mut self.known.back_mut().expect("one was pushed").1
    }
}

impl Palette {
    /// Takes how a character was painted when it was typed last.
    fn learn(&mut self, place: &Place<'_>, pen: Pen) {
        if pen.attributes.contains(Attributes::INVERSE) {
            return;
        }
        if !scene::is_in_word(place.base) {
            self.marks.retain(|(c, _)| *c != place.base);
            if self.marks.len() < MARKS_MAX && place.base != ' ' {
                self.marks.push((place.base, pen));
            }
            return;
        }
        if !is_on_own_ground(pen) {
            return;
        }
        if place.is_fresh() {
            self.fresh[usize::from(!place.is_first())] = Some(pen);
        }
        let prefix = place.prefix();
        self.prefixes.retain(|(known, _)| *known != prefix);
        if self.prefixes.len() >= PREFIXES_MAX {
            self.prefixes.pop_front();
        }
        self.prefixes.push_back((prefix, pen));
    }

    /// Returns how a character will be painted, if that is known from its like.
    fn pen(&self, place: &Place<'_>) -> Option<Pen> {
        if !scene::is_in_word(place.base) {
            let found = self.marks.iter().find(|(c, _)| *c == place.base);
            return found.map(|(_, pen)| *pen);
        }
        let prefix = place.prefix();
        let known = self.prefixes.iter().find(|(known, _)| *known == prefix);
        let fresh = self.fresh[usize::from(!place.is_first())].filter(|_| place.is_fresh());
        known.map(|(_, pen)| *pen).or(fresh)
    }
}

impl<'a> Place<'a> {
    fn new(before: &'a [Cell], base: char) -> Self {
        let is_part = |cell: &Cell| cell.base.is_some_and(scene::is_in_word);
        let word_start = before.iter().rposition(|cell| !is_part(cell)).map_or(0, |last| last + 1);
        Self { before, base, word_start }
    }

    /// Returns whether it begins a word.
    const fn is_fresh(&self) -> bool {
        self.word_start == self.before.len()
    }

    /// Returns whether it belongs to the first word.
    fn is_first(&self) -> bool {
        let rest = &self.before[..self.word_start];
        rest.iter().all(|cell| matches!(cell.base, None | Some(' ')))
    }

    /// Returns what stands before it, without the first word: commands and keywords are painted in ways
    /// of their own.
    fn behind_first(&self) -> &[Cell] {
        let is_blank = |cell: &Cell| matches!(cell.base, None | Some(' '));
        let start = self.before.iter().position(|cell| !is_blank(cell)).unwrap_or_default();
        let len = self.before[start..].iter().take_while(|cell| !is_blank(cell)).count();
        &self.before[start + len..]
    }

    /// Names the word up to here.
    fn prefix(&self) -> u64 {
        let word = &self.before[self.word_start..];
        let characters = word.iter().filter_map(|cell| cell.base).chain([self.base]);
        mix([u64::from(self.is_first())].into_iter().chain(characters.map(u64::from)))
    }
}

impl Replay {
    /// Learns how the last of some keys is painted, which the screen shows.
    pub(super) fn note_paint(&mut self, screen: &Screen, count: usize) {
        if count == 0 || !self.has(Mechanism::Palettes) {
            return;
        }
        let mut simulation = self.simulation();
        let mut last = None;
        for event in self.log.iter().take(count) {
            let at = simulation.canvas.cursor;
            if simulation.apply(event.key) != Effect::Drawn {
                return;
            }
            last = Some((event.key, at));
        }
        let Some((Key::Text(base), at)) = last else { return };
        let cursor = screen.cursor();
        if at.row != cursor.row || Text::of(screen, at) != Text::plain(base) {
            return;
        }
        let first = first_column(&self.field, at.row).min(at.column);
        let before: Vec<Cell> =
            (first..at.column).map(|column| cell(screen, Position { column, ..at })).collect();
        if scene::surrounding(&before).is_none() && has_own_ground(&self.ground, at) {
            let name = self.field.context.weak;
            self.palettes.entry(name).learn(&Place::new(&before, base), cell(screen, at).pen);
        }
    }

    /// Paints what is predicted.
    pub(super) fn paint(&self, canvas: &mut Canvas<'_>) {
        if !self.has(Mechanism::Colors) {
            return;
        }
        let palette = self.palettes.find(self.field.context.weak);
        for (row, columns) in canvas.written() {
            let first = first_column(&self.field, row).min(columns.start);
            let mut cells = canvas.cells(row, first..columns.end);
            for column in columns {
                if !canvas.is_typed(row, column) {
                    continue;
                }
                let (before, rest) = cells.split_at_mut(usize::from(column - first));
                let base = rest[0].base.unwrap_or(' ');
                let place = Place::new(before, base);
                let at = Position { row, column };
                if base == ' ' {
                    rest[0].pen = cell(canvas.ground(), at).pen;
                    canvas.paint(at, rest[0].pen);
                    continue;
                }
                let has_own_ground = has_own_ground(canvas.ground(), at);
                let pen = scene::surrounding(before)
                    .or_else(|| palette.pen(&place).filter(|_| has_own_ground))
                    .or_else(|| scene::continued(before, base))
                    .or_else(|| scene::usual(place.behind_first(), base));
                let left = Position { row, column: column.saturating_sub(1) };
                let pen = pen.unwrap_or_else(|| match column {
                    0 => canvas.ground().pen(),
                    _ => canvas.pen(left),
                });
                rest[0].pen = if has_own_ground { unmarked(pen) } else { pen };
                canvas.paint(at, rest[0].pen);
            }
            if !self.field.is_line() {
                paint_words(canvas, row, first, &cells);
            }
        }
    }
}

/// Paints the words of a row that stand elsewhere on the screen as they do there.
fn paint_words(canvas: &mut Canvas<'_>, row: u16, first: u16, cells: &[Cell]) {
    let is_part = |cell: &Cell| cell.base.is_some_and(scene::is_in_word);
    let mut start = 0;
    for word in cells.chunk_by(|one, next| is_part(one) && is_part(next)) {
        let columns = first + start..first + start + u16::try_from(word.len()).unwrap_or(u16::MAX);
        start = columns.end - first;
        let typed: Vec<u16> =
            columns.clone().filter(|column| canvas.is_typed(row, *column)).collect();
        let before = &cells[..usize::from(columns.start - first)];
        if typed.is_empty() || word.len() < 2 || scene::surrounding(before).is_some() {
            continue;
        }
        let characters: Vec<char> = word.iter().filter_map(|cell| cell.base).collect();
        let rows = row.saturating_sub(REACH_ROWS)..row.saturating_add(REACH_ROWS);
        if let Some(pen) = scene::word_pen(canvas.ground(), rows, &characters) {
            for column in typed {
                canvas.paint(Position { row, column }, pen);
            }
        }
    }
}

/// Returns whether a place has the terminal's own ground, and belongs to no field that is painted.
fn has_own_ground(screen: &Screen, at: Position) -> bool {
    is_on_own_ground(cell(screen, at).pen)
}

/// Returns a pen without the mark that some shells give to what was just pasted.
fn unmarked(pen: Pen) -> Pen {
    Pen { attributes: pen.attributes.without(Attributes::INVERSE), ..pen }
}

fn is_on_own_ground(pen: Pen) -> bool {
    pen.background == Color::Default && !pen.attributes.contains(Attributes::INVERSE)
}

/// Returns where the text of a row begins that its colours depend on.
fn first_column(field: &Field, row: u16) -> u16 {
    match (field.is_line(), row == field.row) {
        (true, true) => field.start,
        (true, false) => field.layout.left,
        (false, _) => field.left,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_remembered_than_there_is_room_for() {
        let mut palettes = Palettes::default();
        for name in 0..=PALETTES_MAX {
            palettes.entry(u64::try_from(name).unwrap());
            assert_eq!(palettes.known.len(), (name + 1).min(PALETTES_MAX));
        }
        let palette = palettes.entry(7);
        let place = |base| Place::new(&[], base);
        let letters = ('\u{4e00}'..).take(PREFIXES_MAX + 1);
        for (count, base) in (1..).zip(letters) {
            palette.learn(&place(base), Pen::default());
            assert_eq!(palette.prefixes.len(), count.min(PREFIXES_MAX));
        }
        for base in (0x21_u8..0x7f).map(char::from) {
            palette.learn(&place(base), Pen::default());
            assert!(palette.marks.len() <= MARKS_MAX);
        }
    }
}
