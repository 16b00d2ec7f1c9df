//! How a character that is typed will be painted.

use rove_terminal::{Cell, Pen};

use super::character;

/// What highlighters paint alike.
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
            '"' | '\'' | '`' => Self::Quote,
            '0'..='9' => Self::Digit,
            _ if c.is_ascii_punctuation() && !"-_./~".contains(c) => Self::Operator,
            // What stands in names and paths counts as letters.
            _ => Self::Letter,
        }
    }

    /// Returns whether a character of this class goes on with the word before it.
    fn continues(self, previous: Self) -> bool {
        let is_word = |class| matches!(class, Self::Letter | Self::Digit);
        self == previous || is_word(self) && is_word(previous)
    }
}

/// Returns how `c` will be painted behind these cells, which are those of the input before it, predicted
/// ones included; `None` if they say nothing of it.
///
/// As the character before it, if both belong to one word, and otherwise as most of its class. Colours never
/// decide whether a prediction is right.
pub(crate) fn rendition(before: &[Cell], c: char) -> Option<Pen> {
    let class = Class::of(c);
    let previous = before.iter().rev().find(|cell| cell.base.is_some() || cell.combined)?;
    if class.continues(Class::of(character(previous))) {
        return Some(previous.pen);
    }
    most_frequent(before.iter().filter(|cell| Class::of(character(cell)) == class))
}

/// Returns the pen of most of these cells, the last one of several.
fn most_frequent<'a>(cells: impl DoubleEndedIterator<Item = &'a Cell>) -> Option<Pen> {
    /// Most pens told apart. Chosen: highlighters have fewer for one class.
    const PENS_MAX: usize = 8;
    let mut counts: Vec<(Pen, u32)> = Vec::new();
    for cell in cells.rev() {
        match counts.iter().position(|(pen, _)| *pen == cell.pen) {
            Some(index) => counts[index].1 += 1,
            None if counts.len() < PENS_MAX => counts.push((cell.pen, 1)),
            None => {}
        }
    }
    // Of equals `max_by_key` returns the last, and the first is the one nearest to the cursor.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(pen, _)| pen)
}
