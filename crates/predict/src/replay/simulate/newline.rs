//! A row that Enter parts.

use rove_terminal::{Pen, Position};

use crate::replay::canvas::{Tile, cell};
use crate::replay::field::Kind;
use crate::replay::layout::Layout;
use crate::replay::newline::{Breaks, Ending, Lead, Spot, Trial};
use crate::replay::simulate::{Effect, Simulation};

/// Fewest rows of a text. Chosen: a prompt below one has one or two.
const ROWS_MIN: u16 = 3;

/// Most columns of a sign.
const SIGN_COLUMNS_MAX: u16 = 6;

/// What was done to part a row.
#[derive(Clone, Copy, Debug)]
pub(in crate::replay) struct Break {
    pub(in crate::replay) spot: Spot,
    pub(in crate::replay) trial: Trial,
    /// Where the new row begins.
    pub(in crate::replay) column: u16,
    /// Whether all rows below it look alike, so that the text has ended.
    pub(in crate::replay) is_above_even: bool,
    /// Whether text has moved to another row, and not all of it upwards.
    pub(in crate::replay) moves_text: bool,
}

/// Commands that ask for secrets, which an editor may run in a window.
const ASKING: [&str; 7] = ["sudo", "su", "doas", "ssh", "passwd", "login", "read"];

impl Simulation<'_> {
    /// Returns where a character is that was typed in this place or position, before which as many rows were parted.
    pub(in crate::replay) fn position(&self, place: u16, at: Position, breaks: usize) -> Position {
        let behind = self.breaks.get(breaks..).unwrap_or_default();
        if behind.is_empty() {
            return self.layout.at(place);
        }
        let scrolled = behind.iter().filter(|done| done.trial.scrolls).count();
        let scrolled = u16::try_from(scrolled).unwrap_or(u16::MAX);
        Position { row: at.row.saturating_sub(scrolled), ..at }
    }

    /// Returns whether there is nothing but blanks left of the cursor that nobody is known to have typed.
    pub(super) fn is_indented(&self) -> bool {
        let is_text = matches!(self.kind, Kind::Full | Kind::Insert);
        let at = self.canvas.cursor;
        let before = self.left..at.column;
        let is_typed = |column| self.canvas.is_typed(at.row, column);
        let is_blank =
            |column: u16| !is_typed(column) && self.text_at(Position { column, ..at }) == ' ';
        is_text && !self.is_bounded && !before.is_empty() && before.into_iter().all(is_blank)
    }

    /// Does what Enter will do.
    pub(super) fn part_row(&mut self) -> Effect {
        let Some(spot) = self.spot() else { return Effect::Unknown };
        let trial = match self.habits.breaks {
            Breaks::Unknown => None,
            Breaks::Tried(trial) => Some(trial),
            Breaks::Known(newline) => {
                newline.foresee(&spot, |top, bottom| self.is_even(top, bottom))
            }
        };
        let done = trial.and_then(|trial| self.part_row_so(&spot, trial));
        done.map_or(Effect::Unknown, |()| Effect::Drawn)
    }

    /// Returns where the cursor is, if Enter may part a text there.
    pub(in crate::replay) fn spot(&self) -> Option<Spot> {
        let at = self.canvas.cursor;
        let pane = self.pane;
        let is_whole = self.layout.row == at.row && self.column == Some(at.column);
        let may_part = is_whole
            && !self.is_bounded
            && self.suggested.is_none()
            && at.column >= self.left
            && (pane.top..pane.bottom).contains(&at.row)
            && pane.bottom - pane.top >= ROWS_MIN;
        // A row that is full goes on in the next.
        if !may_part || self.text_end(at.row) + 1 >= pane.right || self.is_shifted(at.row) {
            return None;
        }
        let text: String =
            (self.left..at.column).map(|column| self.text_at(Position { column, ..at })).collect();
        let first = self.indent(at.row).filter(|column| *column < at.column);
        let indent = first.unwrap_or(at.column);
        let begins = at.row == pane.top || !self.is_full(at.row - 1);
        if !begins && indent > self.left {
            return None;
        }
        let ending = Ending::of(&text);
        let sign = first.filter(|_| ending == Ending::Sign).map_or(0, |first| {
            let reach = at.column.min(first + SIGN_COLUMNS_MAX + 1);
            let is_sign =
                |column: &u16| !self.text_at(Position { column: *column, ..at }).is_alphanumeric();
            let columns = (first..reach).take_while(is_sign).count();
            u16::try_from(columns).unwrap_or(u16::MAX)
        });
        let sign_columns = if sign > SIGN_COLUMNS_MAX { 0 } else { sign };
        Some(Spot {
            row: at.row,
            bottom: pane.bottom,
            ending,
            left: self.left,
            indent,
            sign_columns,
            may_ask: may_ask(&text),
        })
    }

    /// Returns whether a mark in another colour at the left edge says that a row is shown from further on.
    fn is_shifted(&self, row: u16) -> bool {
        let at = Position { row, column: self.pane.left };
        let is_mark = matches!(self.text_at(at), '<' | '$' | '\u{ab}');
        is_mark && self.canvas.pen(at) != self.canvas.pen(Position { column: at.column + 1, ..at })
    }

    fn part_row_so(&mut self, spot: &Spot, trial: Trial) -> Option<()> {
        let Position { row, column: from } = self.canvas.cursor;
        let end = self.text_end(row).max(from);
        let pane = self.pane;
        let column = spot.column(trial.lead)?;
        let bottom = pane.bottom.checked_sub(trial.margin).filter(|bottom| row < *bottom)?;
        // Some take the blanks away that the rest begins with, and some do not.
        let is_blank = end > from && self.text_at(Position { row, column: from }) == ' ';
        let reach = column.checked_add(end - from)?;
        if is_blank || reach + 1 >= pane.right || row + 1 == bottom && !trial.scrolls {
            return None;
        }
        let numbers = self.numbers(bottom)?;
        let is_above_even = self.is_even(row + 1, bottom);
        let tail: Vec<Tile> =
            (from..end).map(|column| self.canvas.tile(Position { row, column })).collect();
        let sign: Vec<Tile> = match trial.lead {
            Lead::Sign => (spot.indent..column)
                .map(|column| self.canvas.tile(Position { row, column }))
                .collect(),
            _ => Vec::new(),
        };
        let has_text = |row: u16| self.text_end(row) > self.left;
        let moves_text = !tail.is_empty() || !trial.scrolls && (row + 1..bottom).any(has_text);
        let pen = cell(self.canvas.ground(), self.canvas.cursor).pen.erased();
        for column in from..end {
            self.canvas.put(Position { row, column }, Tile::Blank(pen));
        }
        let new = if trial.scrolls {
            self.canvas.scroll_up(pane.top..row + 1);
            row
        } else {
            self.canvas.insert_row(row + 1..bottom);
            row + 1
        };
        if pen != Pen::default() {
            for column in self.left..pane.right {
                self.canvas.put(Position { row: new, column }, Tile::Blank(pen));
            }
        }
        for (column, tile) in (spot.indent..).zip(sign) {
            self.canvas.put(Position { row: new, column }, tile);
        }
        for (column, tile) in (column..).zip(tail) {
            self.canvas.put(Position { row: new, column }, tile);
        }
        self.renumber(&numbers, new, bottom);
        self.layout = Layout { row: new, ..self.layout };
        (self.start, self.end, self.column) = (column, reach, Some(column));
        let to = Position { row: new, column };
        self.canvas.cursor = to;
        if trial.scrolls {
            self.ruled.row = self.ruled.row.saturating_sub(1);
        }
        self.rule_to(to);
        self.breaks.push(Break { spot: *spot, trial, column, is_above_even, moves_text });
        Some(())
    }

    /// Returns whether some rows, up to the one before `bottom`, look alike.
    fn is_even(&self, top: u16, bottom: u16) -> bool {
        (top + 1..bottom).all(|row| self.canvas.are_same_rows(top, row))
    }
}

/// Returns whether a line may be a command that asks for a secret.
fn may_ask(text: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|word| ASKING.contains(&word))
}
