//! Predicts the colours of typed characters: those that the program gave to similar text. Colours never decide whether
//! a prediction is right. Text that the host's screen already has keeps its colours.

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

/// Most beginnings of words whose colours are remembered for a kind of prompt. Chosen: enough for a hundred commands.
const PREFIXES_MAX: usize = 512;

/// Most characters outside of words whose colours are remembered. Chosen: more than ASCII's punctuation.
const MARKS_MAX: usize = 40;

/// How many rows above a word are searched for the same word, and below it one row less.
const REACH_ROWS: u16 = 24;

/// The colours of typed characters, for each kind of prompt and editor.
#[derive(Clone, Debug, Default)]
pub(super) struct Palettes {
    known: Memory<PromptId, Palette, PALETTES_MAX>,
    empty: Palette,
}

/// The colours that one program gives to typed characters.
#[derive(Clone, Debug, Default)]
struct Palette {
    /// The colours of the first letters of a line's first word, and of its other words. `None` if unknown.
    first_letters: [Option<Pen>; 2],
    /// The colours of characters that are not part of words.
    marks: Memory<char, Pen, MARKS_MAX>,
    /// For each beginning of a word (as a hash), the colour of the beginning's last letter.
    prefixes: Memory<WordId, Pen, PREFIXES_MAX>,
}

/// The hash of the beginning of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WordId(u64);

/// A character, and the text before it in its row.
struct Place<'a> {
    /// The cells before the character in its row.
    before: &'a [Cell],
    base: char,
    /// The index in `before` at which the character's word begins.
    word_start: usize,
}

impl Palette {
    /// Records a typed character's colours. Ignores reverse video, and words on another than the default background.
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

    /// Returns the colours that a character will probably have. `None` if no similar character is known.
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

    const fn begins_word(&self) -> bool {
        self.word_start == self.before.len()
    }

    /// Returns whether the character belongs to the first word of its row.
    fn is_first(&self) -> bool {
        let rest = &self.before[..self.word_start];
        rest.iter().all(|cell| matches!(cell.base, None | Some(' ')))
    }

    /// Returns the cells before the character, without the row's first word: it is often coloured as a command.
    fn behind_first(&self) -> &[Cell] {
        let is_blank = |cell: &Cell| matches!(cell.base, None | Some(' '));
        let start = self.before.iter().position(|cell| !is_blank(cell)).unwrap_or_default();
        let len = self.before[start..].iter().take_while(|cell| !is_blank(cell)).count();
        &self.before[start + len..]
    }

    /// Returns the identity of the character's word, up to and including the character.
    fn prefix(&self) -> WordId {
        let word = &self.before[self.word_start..];
        let characters = word.iter().filter_map(|cell| cell.base).chain([self.base]);
        let numbers = [u64::from(self.is_first())].into_iter().chain(characters.map(u64::from));
        WordId(mix(numbers))
    }
}

impl Palettes {
    /// Learns the colours of a typed character. Ignores strings, comments, and fields with a coloured background.
    pub(super) fn learn(&mut self, base: &Base, typed: char, at: Position, screen: &Screen) {
        let first = first_column(&base.field, at.row).min(at.column);
        let before: Vec<Cell> =
            (first..at.column).map(|column| cell(screen, Position { column, ..at })).collect();
        if scene::surrounding(&before).is_none() && has_default_background(&base.screen, at) {
            let palette = self.known.entry(base.field.context.weak);
            palette.learn(&Place::new(&before, typed), cell(screen, at).pen);
        }
    }

    /// Sets the colours that the typed characters in a field will probably get.
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
                // A shell may show newly pasted text in reverse video.
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

/// Gives the typed characters of each word the colours that the same word has in rows nearby.
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

/// Returns whether a cell has the terminal's default background, so that it is not part of a coloured field.
fn has_default_background(screen: &Screen, at: Position) -> bool {
    is_on_default_background(cell(screen, at).pen)
}

fn is_on_default_background(pen: Pen) -> bool {
    pen.background == Color::Default && !pen.attributes.contains(Attributes::INVERSE)
}

/// Returns the first column from which text influences the colours in a row.
fn first_column(field: &Field, row: u16) -> u16 {
    match (field.is_line(), row == field.row) {
        (true, true) => field.bounds.start,
        (true, false) => field.bounds.layout.left,
        (false, _) => field.bounds.left,
    }
}
