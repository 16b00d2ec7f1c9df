//! How predicted characters are painted: as highlighters have painted their like. Colours never decide whether
//! a prediction is right, and nothing is painted again that stands on the screen.

use rove_terminal::{Attributes, Cell, Color, Pen, Position, Screen};

use crate::replay::base::Base;
use crate::replay::canvas::{Canvas, mix};
use crate::replay::field::Field;
use crate::replay::id::PromptId;
use crate::replay::memory::Memory;
use crate::scene;
use crate::scene::text::cell;

/// Most kinds of prompts and editors whose colours are remembered. Chosen: a session has a handful.
const PALETTES_MAX: usize = 16;

/// Most beginnings of words that are remembered in one. Chosen: those of a hundred commands.
const PREFIXES_MAX: usize = 512;

/// Most other characters: those that are no letters, in ASCII.
const MARKS_MAX: usize = 40;

/// Most rows above and below a word in which it is looked for.
const REACH_ROWS: u16 = 24;

/// The memory of colours, by the kind of place they were seen in.
#[derive(Clone, Debug, Default)]
pub(super) struct Palettes {
    known: Memory<PromptId, Palette, PALETTES_MAX>,
    empty: Palette,
}

/// The colours that typed characters had at first.
#[derive(Clone, Debug, Default)]
struct Palette {
    /// The colours of the first letter of a line's first word, and of its other words.
    first_letters: [Option<Pen>; 2],
    /// The colours of other characters.
    marks: Memory<char, Pen, MARKS_MAX>,
    /// The colours of the last letters of the beginnings of words, by its hash.
    prefixes: Memory<WordId, Pen, PREFIXES_MAX>,
}

/// The name of the beginning of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WordId(u64);

/// Where a character stands in its row.
struct Place<'a> {
    /// The character before it.
    before: &'a [Cell],
    base: char,
    /// Where in that the word begins that it belongs to.
    word_start: usize,
}

impl Palette {
    /// Records how a character was painted when it was typed last.
    fn learn(&mut self, place: &Place<'_>, pen: Pen) {
        if pen.attributes.contains(Attributes::INVERSE) {
            return;
        }
        if !scene::is_in_word(place.base) {
            if place.base != ' ' {
                *self.marks.entry(place.base) = pen;
            }
            return;
        }
        if !is_on_default_background(pen) {
            return;
        }
        if place.begins_word() {
            self.first_letters[usize::from(!place.is_first())] = Some(pen);
        }
        *self.prefixes.entry(place.prefix()) = pen;
    }

    /// Returns how a character will be painted, if that is known from its like.
    fn pen(&self, place: &Place<'_>) -> Option<Pen> {
        if !scene::is_in_word(place.base) {
            return self.marks.find(&place.base).copied();
        }
        let known = self.prefixes.find(&place.prefix()).copied();
        let first_letters =
            self.first_letters[usize::from(!place.is_first())].filter(|_| place.begins_word());
        known.or(first_letters)
    }
}

impl<'a> Place<'a> {
    fn new(before: &'a [Cell], base: char) -> Self {
        let is_part = |cell: &Cell| cell.base.is_some_and(scene::is_in_word);
        let word_start = before.iter().rposition(|cell| !is_part(cell)).map_or(0, |last| last + 1);
        Self { before, base, word_start }
    }

    /// Returns whether it begins a word.
    const fn begins_word(&self) -> bool {
        self.word_start == self.before.len()
    }

    /// Returns whether it belongs to the first word.
    fn is_first(&self) -> bool {
        let rest = &self.before[..self.word_start];
        rest.iter().all(|cell| matches!(cell.base, None | Some(' ')))
    }

    /// Returns what stands before it, without the first word: commands and keywords are painted in ways of their own.
    fn behind_first(&self) -> &[Cell] {
        let is_blank = |cell: &Cell| matches!(cell.base, None | Some(' '));
        let start = self.before.iter().position(|cell| !is_blank(cell)).unwrap_or_default();
        let len = self.before[start..].iter().take_while(|cell| !is_blank(cell)).count();
        &self.before[start + len..]
    }

    /// Names the word up to here.
    fn prefix(&self) -> WordId {
        let word = &self.before[self.word_start..];
        let characters = word.iter().filter_map(|cell| cell.base).chain([self.base]);
        let numbers = [u64::from(self.is_first())].into_iter().chain(characters.map(u64::from));
        WordId(mix(numbers))
    }
}

impl Palettes {
    /// Called when a screen shows a character where it was typed: learns how it is painted.
    pub(super) fn learn(&mut self, base: &Base, typed: char, at: Position, screen: &Screen) {
        let first = first_column(&base.field, at.row).min(at.column);
        let before: Vec<Cell> =
            (first..at.column).map(|column| cell(screen, Position { column, ..at })).collect();
        if scene::surrounding(&before).is_none() && has_default_background(&base.screen, at) {
            let palette = self.known.entry(base.field.context.weak);
            palette.learn(&Place::new(&before, typed), cell(screen, at).pen);
        }
    }

    /// Paints what is predicted in a field.
    pub(super) fn paint(&self, field: &Field, canvas: &mut Canvas<'_>) {
        let palette = self.known.find(&field.context.weak).unwrap_or(&self.empty);
        for (row, columns) in canvas.written() {
            let first = first_column(field, row).min(columns.start);
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
                    rest[0].pen = cell(canvas.screen(), at).pen;
                    canvas.paint(at, rest[0].pen);
                    continue;
                }
                let has_default_background = has_default_background(canvas.screen(), at);
                let pen = scene::surrounding(before)
                    .or_else(|| palette.pen(&place).filter(|_| has_default_background))
                    .or_else(|| scene::continued(before, base))
                    .or_else(|| scene::usual(place.behind_first(), base));
                let left = Position { row, column: column.saturating_sub(1) };
                let pen = pen.unwrap_or_else(|| match column {
                    0 => canvas.screen().pen(),
                    _ => canvas.pen(left),
                });
                // A shell may mark text that was just pasted.
                let attributes = pen.attributes.without(Attributes::INVERSE);
                rest[0].pen = if has_default_background { Pen { attributes, ..pen } } else { pen };
                canvas.paint(at, rest[0].pen);
            }
            if !field.is_line() {
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
        if let Some(pen) = scene::word_pen(canvas.screen(), rows, &characters) {
            for column in typed {
                canvas.paint(Position { row, column }, pen);
            }
        }
    }
}

/// Returns whether a place has the terminal's own background, and belongs to no field that is painted.
fn has_default_background(screen: &Screen, at: Position) -> bool {
    is_on_default_background(cell(screen, at).pen)
}

fn is_on_default_background(pen: Pen) -> bool {
    pen.background == Color::Default && !pen.attributes.contains(Attributes::INVERSE)
}

/// Returns where the text of a row begins that its colours depend on.
fn first_column(field: &Field, row: u16) -> u16 {
    match (field.is_line(), row == field.row) {
        (true, true) => field.bounds.start,
        (true, false) => field.bounds.layout.left,
        (false, _) => field.bounds.left,
    }
}
