//! Numbers on the screen that show the cursor's line and column, as in vim's ruler or Emacs's mode line.

use rove_terminal::{Position, Screen};

use crate::replay::canvas::{Canvas, Tile, mix};
use crate::replay::evidence::Evidence;
use crate::replay::motion::Step;
use crate::scene::text::{characters, is_same_row};

/// Most numbers in a window that are treated as its ruler. Chosen: the line and the column, in two places.
const MARKS_MAX: usize = 4;

/// How often in a row all numbers must have followed the cursor before they are predicted. Chosen: once may be by
/// chance, as with a clock that advances at the same time.
const NEEDED: u16 = 2;

/// Most digits on the screen that are read as one number. Further digits form another number.
const DIGITS_MAX: usize = 7;

/// The numbers in one window that show the cursor's position.
#[derive(Clone, Debug)]
pub(super) struct Ruler {
    marks: Vec<Mark>,
    evidence: Evidence,
}

/// A number on the screen that shows the cursor's line or column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mark {
    /// The row of the word that contains the number. The word begins at `column`.
    row: u16,
    column: u16,
    /// The index of the number among the numbers of the word.
    number: usize,
    axis: Axis,
    /// A hash of the word's other characters.
    signs: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axis {
    Line,
    Column,
}

/// A number in a word: its range and its value. Vim shows `0-1` if byte and column differ. This counts as a single
/// number with the value after the dash.
struct Number {
    start: usize,
    end: usize,
    value: u32,
}

impl Default for Ruler {
    fn default() -> Self {
        Self { marks: Vec::new(), evidence: Evidence::needing(NEEDED) }
    }
}

impl Ruler {
    /// Returns whether the numbers have followed the cursor often enough to be predicted.
    pub(super) const fn is_known(&self) -> bool {
        self.evidence.is_enough()
    }

    /// Draws the numbers with their values after a step of the cursor.
    pub(super) fn draw(&self, canvas: &mut Canvas<'_>, step: Step) {
        for (row, column) in self.words() {
            let line: Vec<char> = (0..canvas.screen().size().columns())
                .map(|column| canvas.text(Position { row, column }).base.unwrap_or(' '))
                .collect();
            let Some(new) = self.turn(&line, row, column, step) else { continue };
            let pen = canvas.pen(Position { row, column });
            let changes = (0..).zip(line.into_iter().zip(new)).filter(|(_, (old, new))| old != new);
            let changes = changes.map(|(column, (_, new))| (Position { row, column }, new));
            // The model does not move the right half of a wide character.
            if changes.clone().any(|(at, _)| canvas.is_wide(at)) {
                continue;
            }
            changes.for_each(|(at, base)| canvas.put(at, Tile::Guess { base, wide: false, pen }));
        }
    }

    /// Learns from the changes on the screen after a step of the cursor.
    pub(super) fn learn(&mut self, before: &Screen, after: &Screen, step: Step) {
        let turns = self.words().any(|(row, column)| {
            let old: Vec<char> = characters(before, row).collect();
            self.turn(&old, row, column, step).is_some_and(|new| new != old)
        });
        let mut found = find_all(before, after, step);
        let is_news = found.iter().any(|mark| !self.marks.contains(mark));
        if self.foretells(before, after, step) && !is_news {
            if turns {
                self.evidence.confirm();
            }
            return;
        }
        if self.is_known() && turns {
            self.evidence.refute_mildly();
        }
        let place = |mark: &Mark| (mark.row, mark.column, mark.number, mark.signs);
        self.marks.retain(|mark| !found.iter().any(|other| place(other) == place(mark)));
        self.marks.append(&mut found);
        let spare = self.marks.len().saturating_sub(MARKS_MAX);
        self.marks.drain(..spare);
        self.evidence.restart();
        if self.foretells(before, after, step) {
            self.evidence.confirm();
        } else {
            self.marks.clear();
        }
        debug_assert!(self.marks.len() <= MARKS_MAX, "no more places are kept than the most");
    }

    /// Returns whether rows with ruler numbers look exactly as predicted after a step. Ignores the step's own rows.
    fn foretells(&self, before: &Screen, after: &Screen, step: Step) -> bool {
        let rows = 0..after.size().rows();
        rows.filter(|row| ![step.from.row, step.to.row].contains(row)).all(|row| {
            if !self.marks.iter().any(|mark| mark.row == row) {
                return true;
            }
            let mut line: Vec<char> = characters(before, row).collect();
            for (_, column) in self.words().filter(|(word_row, _)| *word_row == row) {
                if let Some(new) = self.turn(&line, row, column, step) {
                    line = new;
                }
            }
            characters(after, row).eq(line)
        })
    }

    /// Returns the characters `line` of a row, with one word's numbers as after a step. `None` without a word or room.
    fn turn(&self, line: &[char], row: u16, column: u16, step: Step) -> Option<Vec<char>> {
        let start = usize::from(column);
        let word = word(line, start)?;
        let numbers = numbers(word);
        let name = name(word, &numbers);
        let mut new = String::new();
        let mut copied = 0;
        for (index, number) in numbers.iter().enumerate() {
            let is_here = |mark: &&Mark| {
                (mark.row, mark.column, mark.number, mark.signs) == (row, column, index, name)
            };
            let Some(mark) = self.marks.iter().find(is_here) else { continue };
            let value = number.value.checked_add_signed(distance(step, mark.axis))?;
            new.extend(&word[copied..number.start]);
            let is_vim = new.ends_with(',') && mark.axis == Axis::Column;
            if is_vim && step.is_to_empty {
                new.push_str("0-1");
            } else {
                new.push_str(&value.to_string());
            }
            copied = number.end;
        }
        new.extend(&word[copied..]);
        let new: Vec<char> = new.chars().collect();
        let is_phrase = matches!(line[start + word.len()..], [' ', next, ..] if next != ' ');
        if new.len() != word.len() && is_phrase {
            return push(line, start, word.len(), &new);
        }
        let mut turned = line.to_vec();
        let reach = word.len().max(new.len());
        // A number that grows needs blanks after it.
        let room = line.get(start + word.len()..(start + reach + 1).min(line.len()))?;
        if start + reach > line.len() || new.len() > word.len() && !room.iter().all(|c| *c == ' ') {
            return None;
        }
        for (index, cell) in turned[start..start + reach].iter_mut().enumerate() {
            *cell = new.get(index).copied().unwrap_or(' ');
        }
        Some(turned)
    }

    /// Returns the row and column of each word with numbers that follow the cursor, without repetitions.
    fn words(&self) -> impl Iterator<Item = (u16, u16)> {
        let place = |mark: &Mark| (mark.row, mark.column);
        let is_first = move |index: usize| {
            let here = place(&self.marks[index]);
            !self.marks[..index].iter().any(|mark| place(mark) == here)
        };
        (0..self.marks.len())
            .filter(move |index| is_first(*index))
            .map(move |index| place(&self.marks[index]))
    }
}

/// Replaces a word, and moves the phrase after it (as in `9 files`) into the next gap. `None` if the gap is too small.
fn push(line: &[char], start: usize, len: usize, new: &[char]) -> Option<Vec<char>> {
    let rest = &line[start + len..];
    let is_gap = |pair: &[char]| pair == [' ', ' '];
    let (phrase, gap) = rest.split_at(rest.windows(2).position(is_gap)?);
    let mut pushed = [&line[..start], new, phrase].concat();
    let blanks = gap.iter().take_while(|c| **c == ' ').count();
    let end = start + len + phrase.len() + blanks;
    // The gap keeps at least one blank.
    if pushed.len() >= end {
        return None;
    }
    pushed.resize(end, ' ');
    pushed.extend(&line[end..]);
    Some(pushed)
}

/// Finds the numbers that have changed with a step of the cursor, in rows where nothing else has changed.
fn find_all(before: &Screen, after: &Screen, step: Step) -> Vec<Mark> {
    let rows = 0..after.size().rows();
    let is_apart = |row: &u16| ![step.from.row, step.to.row].contains(row);
    let rows = rows.filter(is_apart).filter(|row| !is_same_row(before, after, *row));
    rows.flat_map(|row| find(before, after, row, step).unwrap_or_default()).collect()
}

/// Finds the numbers in a row that have changed with a step of the cursor. `None` if anything else has changed.
fn find(before: &Screen, after: &Screen, row: u16, step: Step) -> Option<Vec<Mark>> {
    let [old, new] = [before, after].map(|screen| characters(screen, row).collect::<Vec<char>>());
    debug_assert_eq!(old.len(), new.len(), "both screens have the same columns");
    let mut found = Vec::new();
    let mut column = 0;
    while column < old.len() {
        let Some(before) = word(&old, column) else {
            if old[column] != new[column] && !is_behind_word(&new, column) {
                return None;
            }
            column += 1;
            continue;
        };
        let after = word(&new, column)?;
        let (numbers_before, numbers_after) = (numbers(before), numbers(after));
        if !signs(before, &numbers_before).eq(signs(after, &numbers_after)) {
            return None;
        }
        for (number, (was, is)) in numbers_before.iter().zip(&numbers_after).enumerate() {
            if before[was.start..was.end] == after[is.start..is.end] {
                continue;
            }
            let moved = i64::from(is.value) - i64::from(was.value);
            let axes = [Axis::Line, Axis::Column].into_iter();
            let mut axes = axes.filter(|axis| i64::from(distance(step, *axis)) == moved);
            let axis = axes.next()?;
            let column = u16::try_from(column).ok()?;
            let signs = name(before, &numbers_before);
            found.push(Mark { row, column, number, axis, signs });
        }
        column += before.len();
    }
    Some(found)
}

/// Returns whether a column is right after a word. The word may have grown into this column.
fn is_behind_word(line: &[char], column: usize) -> bool {
    column > 0 && line[column - 1] != ' '
}

fn distance(step: Step, axis: Axis) -> i32 {
    match axis {
        Axis::Line => i32::from(step.to.row) - i32::from(step.from.row),
        Axis::Column => i32::from(step.to.column) - i32::from(step.from.column),
    }
}

/// Returns the word that begins at column `start` of a row. `None` if no word begins there.
fn word(line: &[char], start: usize) -> Option<&[char]> {
    let is_start = start == 0 || line.get(start - 1) == Some(&' ');
    let len = line.get(start..)?.iter().take_while(|c| **c != ' ').count();
    (is_start && len > 0).then(|| &line[start..start + len])
}

/// Returns the characters of a word, with a blank in place of each number.
fn signs<'a>(word: &'a [char], numbers: &'a [Number]) -> impl Iterator<Item = char> + 'a {
    word.iter().enumerate().filter_map(|(index, c)| {
        let number = numbers.iter().find(|number| (number.start..number.end).contains(&index));
        match number {
            Some(number) => (number.start == index).then_some(' '),
            None => Some(*c),
        }
    })
}

fn name(word: &[char], numbers: &[Number]) -> u64 {
    mix(signs(word, numbers).map(u64::from))
}

fn numbers(word: &[char]) -> Vec<Number> {
    let mut numbers: Vec<Number> = Vec::new();
    let mut start = 0;
    while start < word.len() {
        let digits = word[start..].iter().map_while(|c| c.to_digit(10)).take(DIGITS_MAX);
        let (len, value) = digits.fold((0, 0), |(len, value), digit| (len + 1, value * 10 + digit));
        if len == 0 {
            start += 1;
            continue;
        }
        let end = start + len;
        match numbers.last_mut() {
            Some(last) if last.end + 1 == start && word[last.end] == '-' => {
                (last.end, last.value) = (end, value);
            }
            _ => numbers.push(Number { start, end, value }),
        }
        start = end;
    }
    debug_assert!(numbers.is_sorted_by(|a, b| a.end <= b.start), "numbers do not overlap");
    numbers
}

#[cfg(test)]
mod tests {
    use rove_terminal::{Size, Terminal};

    use super::*;

    #[test]
    fn a_number_that_would_move_a_wide_character_is_not_predicted() {
        for (row, is_drawn) in [("9 signs  x", true), ("9 港の灯  x", false), ("8 港の灯  x", true)]
        {
            let mut host = Terminal::host(Size::clamped(20, 2));
            host.write(row.as_bytes());
            let screen = host.snapshot();
            let mark = Mark { row: 0, column: 0, number: 0, axis: Axis::Column, signs: mix([32]) };
            let ruler = Ruler { marks: vec![mark], ..Ruler::default() };
            let mut canvas = Canvas::new(&screen);
            let to = Position { row: 1, column: 1 };
            let from = Position { column: 0, ..to };
            ruler.draw(&mut canvas, Step { from, to, is_to_empty: false });
            assert_eq!(canvas.is_written(), is_drawn, "{row}");
        }
    }
}
