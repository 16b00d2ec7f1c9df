//! Predicts the colours of a typed character. Colours never decide whether a prediction is right.

use core::ops::Range;

use rove_terminal::{Cell, Pen, Screen};

use super::row::{cells, character};

/// Signs that begin a comment up to the end of the row in most languages.
const COMMENTS: [&str; 3] = ["#", "//", "--"];

/// Classes of characters to which highlighters give the same colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Space,
    Letter,
    Digit,
    Quote,
    Operator,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            ' ' => Self::Space,
            _ if is_quote(c) => Self::Quote,
            '0'..='9' => Self::Digit,
            _ if c.is_ascii_punctuation() && !"-_./~".contains(c) => Self::Operator,
            // Signs that occur in names and paths count as letters.
            _ => Self::Letter,
        }
    }

    /// Returns whether a character of this class continues the word of the previous character.
    fn continues(self, previous: Self) -> bool {
        let is_word = |class| matches!(class, Self::Letter | Self::Digit);
        is_word(self) && is_word(previous)
    }
}

const fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`')
}

/// Returns whether a character belongs to a word: a letter, a digit, one of `-_./~`, or a character beyond ASCII.
pub(crate) fn is_in_word(c: char) -> bool {
    matches!(Class::of(c), Class::Letter | Class::Digit)
}

/// Returns the colours of `c` after these cells, if it continues the word at their end. Otherwise returns `None`.
pub(crate) fn continued(before: &[Cell], c: char) -> Option<Pen> {
    let previous = before.last()?;
    let is_one_word = Class::of(c).continues(Class::of(character(previous)));
    is_one_word.then_some(previous.pen)
}

/// Returns the colours of the string or comment that is open after these cells of a row. The colours are those of its
/// last character, because some shells colour the quote differently until the string is closed. `None` if none is open,
/// or if the colours are the default, because the quote is then an apostrophe.
pub(crate) fn surrounding(before: &[Cell]) -> Option<Pen> {
    // In most rows the last character has the default colours, so that no string or comment is open.
    let last = before.iter().rposition(|cell| character(cell) != ' ')?;
    let pen = before[last].pen;
    let before = &before[..=last];
    (pen != Pen::default() && (is_in_string(before) || is_in_comment(before))).then_some(pen)
}

/// Returns the most frequent colours of the characters in these cells that have the class of `c`. Among equally
/// frequent colours, the last ones count. `None` without such a character.
pub(crate) fn usual(before: &[Cell], c: char) -> Option<Pen> {
    let class = Class::of(c);
    most_frequent(before.iter().rev().filter(|cell| Class::of(character(cell)) == class))
}

/// Returns whether a string is open after these cells.
fn is_in_string(before: &[Cell]) -> bool {
    let mut open = None;
    let mut follows_backslash = false;
    for cell in before {
        let c = character(cell);
        match open {
            _ if follows_backslash => {}
            Some(quote) if quote == c => open = None,
            None if is_quote(c) => open = Some(c),
            _ => {}
        }
        follows_backslash = c == '\\' && !follows_backslash;
    }
    open.is_some()
}

/// Returns whether these cells end with a comment.
fn is_in_comment(before: &[Cell]) -> bool {
    let pen = before.last().map(|cell| cell.pen);
    let painted = before.iter().rev();
    let len = painted.take_while(|cell| Some(cell.pen) == pen || character(cell) == ' ').count();
    let text: String = before[before.len() - len..].iter().map(character).collect();
    let text = text.trim_start();
    COMMENTS.iter().any(|sign| text.starts_with(sign))
}

/// Returns a word's most frequent colours in these rows, from occurrences in a single colour. `None` without any.
pub(crate) fn word_pen(screen: &Screen, rows: Range<u16>, word: &[char]) -> Option<Pen> {
    let first = *word.first()?;
    let found = rows.flat_map(|row| {
        let row = cells(screen, row);
        let starts = (0..(row.len() + 1).saturating_sub(word.len()))
            .filter(move |start| row[*start].base == Some(first));
        starts.filter_map(move |start| {
            let pen = row[start].pen;
            let end = start + word.len();
            let is_part =
                |cell: Option<&Cell>| cell.is_some_and(|cell| is_in_word(character(cell)));
            let before = start.checked_sub(1).and_then(|before| row.get(before));
            let is_word = !is_part(before) && !is_part(row.get(end));
            let is_same = row[start..end]
                .iter()
                .zip(word)
                .all(|(cell, c)| cell.base == Some(*c) && cell.pen == pen);
            (is_word && is_same).then_some(&row[start])
        })
    });
    most_frequent(found)
}

/// Returns the most frequent colours of the cells. Among equally frequent ones, the first count. `None` without cells.
fn most_frequent<'a>(cells: impl Iterator<Item = &'a Cell>) -> Option<Pen> {
    /// Most colours that are counted for a class of characters or a word. Chosen: highlighters use fewer.
    const PENS_MAX: usize = 8;
    let mut counts: Vec<(Pen, u32)> = Vec::new();
    for cell in cells {
        match counts.iter().position(|(pen, _)| *pen == cell.pen) {
            Some(index) => counts[index].1 += 1,
            None if counts.len() < PENS_MAX => counts.push((cell.pen, 1)),
            None => {}
        }
    }
    // `max_by_key` returns the last of equal elements.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(pen, _)| pen)
}
