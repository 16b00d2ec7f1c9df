//! The simulated text of an input, and the positions in it to which keys move.

use rove_terminal::Position;

use crate::replay::bounds::Bounds;
use crate::replay::canvas::{Canvas, Tile};
use crate::replay::class::{Edit, Target};
use crate::replay::history_cursor::Line;
use crate::scene::text::cell;

/// Opening brackets, each with its closing bracket.
const BRACKETS: [(char, char); 3] = [('(', ')'), ('[', ']'), ('{', '}')];

/// Characters besides letters and digits that are parts of words in zsh. Source: zshparam(1), WORDCHARS.
const ZSH_WORD: &str = "*?_-.[]~=/&;!#$%^(){}<>";

/// The text of an input. Its columns are places, which count on from row to row ([`Layout`](super::super::layout)).
#[derive(Clone, Copy, Debug)]
pub(in crate::replay) struct InputText<'a> {
    pub(super) canvas: &'a Canvas<'a>,
    pub(super) bounds: &'a Bounds,
}

impl InputText<'_> {
    /// Returns the text of the input, without its prompt.
    pub(in crate::replay) fn line(&self) -> String {
        let columns = (self.bounds.start..self.bounds.end).filter(|column| !self.is_half(*column));
        columns.flat_map(|column| self.canvas.text(self.at(column)).code_points()).collect()
    }

    /// Returns the text of the input's row, from the prompt to the input's end. `None` if the input has more rows.
    pub(in crate::replay) fn row(&self) -> Option<Line> {
        let columns = self.bounds.pane.left..self.bounds.end;
        let text: String = columns.map(|column| self.base(column)).collect();
        (!self.bounds.layout.parts(self.bounds.start, self.bounds.end)).then(|| Line::new(&text))
    }

    /// Returns the input column of a target relative to `column`.
    pub(super) fn target(&self, column: u16, target: Target) -> u16 {
        match target {
            Target::Left => self.before(column),
            Target::Right => self.after(column),
            Target::Start => self.bounds.left,
            Target::End => self.bounds.end,
            Target::WordLeft => self.word_start(column, char::is_alphanumeric),
            Target::WordRight => self.word_end_within(column, self.bounds.end),
            Target::SolidLeft => self.word_start(column, is_solid),
        }
    }

    /// Returns whether line editors differ in the effect of this edit at `column`. In zsh and mksh, Ctrl-U erases the
    /// whole line. In zsh, words have other characters, and Alt-F goes to the next word. In mksh, Ctrl-W acts as
    /// Alt-Backspace.
    pub(super) fn is_disputed(&self, column: u16, edit: Edit) -> bool {
        let start = |is_part| self.word_start(column, is_part);
        let end = |is_part| self.word_end(column, self.bounds.end, is_part);
        match edit {
            Edit::Erase(Target::Start) => column < self.bounds.end,
            Edit::Move(Target::WordLeft) | Edit::Erase(Target::WordLeft) => {
                start(char::is_alphanumeric) != start(is_zsh_word)
            }
            Edit::Erase(Target::SolidLeft) => {
                [char::is_alphanumeric, is_zsh_word].map(start) != [start(is_solid); 2]
            }
            Edit::Move(Target::WordRight) => end(char::is_alphanumeric) != end(|c| !is_zsh_word(c)),
            Edit::Erase(Target::WordRight) => end(char::is_alphanumeric) != end(is_zsh_word),
            _ => false,
        }
    }

    /// Returns the character at a column of the input, or a space if the cell is blank.
    pub(super) fn base(&self, column: u16) -> char {
        match self.canvas.tile(self.at(column)) {
            Tile::Original(from) => cell(self.canvas.screen(), from).base.unwrap_or(' '),
            Tile::Typed { base, .. } | Tile::Guess { base, .. } => base,
            Tile::Blank(_) | Tile::Veiled(_) => ' ',
        }
    }

    /// Returns the position of the bracket that `c`, typed at `column`, closes. `None` if the row has no such bracket.
    pub(super) fn opener(&self, c: char, column: u16) -> Option<Position> {
        let (open, _) = BRACKETS.into_iter().find(|(_, close)| *close == c)?;
        let mut depth = 0;
        let mut columns = (self.bounds.left..=column).rev();
        let found = columns.find(|column| {
            let base = self.base(*column);
            depth += i32::from(base == c) - i32::from(base == open);
            depth == 0
        });
        found.map(|found| self.at(found)).filter(|at| at.row == self.canvas.cursor.row)
    }

    /// Returns the input column at which the character left of `column` begins.
    pub(super) fn before(&self, column: u16) -> u16 {
        if column <= self.bounds.left {
            return column;
        }
        let one = column - 1;
        let is_half = one > self.bounds.left && self.canvas.is_wide(self.at(one - 1));
        one - u16::from(is_half)
    }

    /// Returns the input column after the character at `column`.
    fn after(&self, column: u16) -> u16 {
        if column >= self.bounds.end {
            return column;
        }
        (column + 1 + u16::from(self.canvas.is_wide(self.at(column)))).min(self.bounds.end)
    }

    /// Returns whether a column shows the right half of a wide character.
    pub(super) fn is_half(&self, column: u16) -> bool {
        column > self.bounds.start && self.canvas.is_wide(self.at(column - 1))
    }

    /// Returns the character at a column, or the wide character whose right half is there.
    fn character(&self, column: u16) -> char {
        self.base(column - u16::from(self.is_half(column)))
    }

    fn word_start(&self, column: u16, is_part: fn(char) -> bool) -> u16 {
        let left = self.bounds.left;
        let is_gap = |column: &u16| !is_part(self.character(*column));
        let before = (left..column).rev().skip_while(is_gap).find(is_gap);
        before.map_or(left.min(column), |before| before + 1)
    }

    pub(super) fn word_end_within(&self, column: u16, limit: u16) -> u16 {
        self.word_end(column, limit, char::is_alphanumeric)
    }

    fn word_end(&self, column: u16, limit: u16, is_part: fn(char) -> bool) -> u16 {
        let is_gap = |column: &u16| !is_part(self.character(*column));
        (column..limit).skip_while(is_gap).find(is_gap).unwrap_or(limit.max(column))
    }

    /// Returns whether there is a wide character at `column` or after it.
    pub(super) fn has_wide(&self, column: u16) -> bool {
        (column..self.bounds.end).any(|column| self.canvas.is_wide(self.at(column)))
    }

    fn at(&self, column: u16) -> Position {
        self.bounds.layout.at(column)
    }
}

fn is_solid(c: char) -> bool {
    !c.is_whitespace()
}

fn is_zsh_word(c: char) -> bool {
    c.is_alphanumeric() || ZSH_WORD.contains(c)
}
