//! Keys beside what a program suggests: the text behind the end of the input that is not typed yet.

use crate::keystroke::Key;
use crate::replay::canvas::Tile;
use crate::replay::class::Class;
use crate::replay::field::Kind;
use crate::replay::simulate::{Effect, Simulation};

use rove_terminal::{Pen, Position};

impl Simulation<'_> {
    /// Returns what a key is here: before a suggestion some accept it.
    pub(in crate::replay) fn class_of(&self, key: Key) -> Class {
        let class = Class::of(key);
        let is_at_suggestion = self.suggested.is_some() && self.column() == self.end;
        match class {
            Class::Right | Class::ControlRight if is_at_suggestion => Class::Accept,
            Class::End | Class::ControlEnd if is_at_suggestion => Class::AcceptToEnd,
            Class::WordRight if is_at_suggestion => Class::AcceptWord,
            Class::Backspace | Class::ControlH if self.is_indented() => Class::Unindent,
            _ => class,
        }
    }

    /// Returns whether there is nothing but blanks left of the cursor that nobody is known to have typed.
    fn is_indented(&self) -> bool {
        let is_text = matches!(self.kind, Kind::Full | Kind::Insert);
        let at = self.canvas.cursor;
        let before = self.left..at.column;
        let is_typed = |column| self.canvas.is_typed(at.row, column);
        let is_blank =
            |column: u16| !is_typed(column) && self.text_at(Position { column, ..at }) == ' ';
        is_text && !self.is_bounded && !before.is_empty() && before.into_iter().all(is_blank)
    }

    /// Returns whether a suggestion stands at the end of the input.
    pub(in crate::replay) const fn has_suggestion(&self) -> bool {
        self.suggested.is_some()
    }

    /// Returns whether keys are typed at the end of the input.
    pub(in crate::replay) fn is_at_end(&self) -> bool {
        self.column() == self.end
    }

    /// Returns the character before the cursor, if it belongs to the input and is none that nobody sees.
    pub(in crate::replay) fn text_before_cursor(&self) -> Option<char> {
        let column = self.column();
        (column > self.left).then(|| self.base(self.before(column))).filter(|c| *c != ' ')
    }

    /// Keeps what is suggested as long as it is typed; else another suggestion will come, or none.
    pub(super) fn follow_suggestion(&mut self, c: char, width: u16) {
        let column = self.column();
        if column != self.end || self.base(column) != c {
            self.veil_suggestion();
        } else if self.suggested.is_some_and(|end| end <= column + width) {
            self.suggested = None;
        }
    }

    pub(super) fn veil_suggestion(&mut self) {
        let Some(end) = self.suggested.take() else { return };
        for column in self.end..end {
            self.canvas.put(self.at(column), Tile::Veiled(Pen::default()));
        }
    }

    /// Makes what is suggested, as far as a column, part of the input.
    pub(super) fn accept(&mut self, to: u16) -> Effect {
        let Some(end) = self.suggested else { return Effect::Unknown };
        // It may go on in the next row.
        if end >= self.right || self.layout.parts(self.column(), end) {
            return Effect::Unknown;
        }
        for column in self.column()..to.min(end) {
            let (at, base) = (self.at(column), self.base(column));
            let (wide, pen) = (self.canvas.is_wide(at), Pen::default());
            self.canvas.put(at, Tile::Typed { base, wide, pen });
            self.end = column + 1;
            self.go_to(column + 1);
        }
        self.suggested = self.suggested.filter(|end| *end > to);
        Effect::Drawn
    }

    /// Returns the column behind the next word of what is suggested.
    pub(super) fn suggested_word_end(&self) -> u16 {
        let end = self.suggested.unwrap_or(self.end);
        self.word_end_within(self.column(), end)
    }

    /// Takes out the end of the input, from a column on. Some programs suggest it then, and others nothing.
    pub(super) fn take_back(&mut self, from: u16) -> Effect {
        let end = self.suggested.unwrap_or(self.end);
        let is_suggested = self.habits.regrows && from > self.left;
        for column in from..end {
            let at = self.at(column);
            let tile = if is_suggested {
                let pen = self.suggestion_pen.unwrap_or_else(|| self.canvas.pen(at));
                Tile::Guess { base: self.base(column), wide: self.canvas.is_wide(at), pen }
            } else {
                Tile::Veiled(Pen::default())
            };
            self.canvas.put(at, tile);
        }
        self.suggested = is_suggested.then_some(end);
        self.end = from;
        self.go_to(from);
        Effect::Drawn
    }
}
