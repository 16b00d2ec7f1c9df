//! What motions do to the cursor of a program that draws on the whole screen.

use rove_terminal::Position;

use crate::keystroke::Key;
use crate::replay::field::Kind;
use crate::replay::layout::Layout;
use crate::replay::navigation::{Motion, Navigation};
use crate::replay::ruler::Step;
use crate::replay::simulate::{Effect, Simulation};

/// Rows below a blank one in which a text that goes on shows. Chosen: paragraphs are parted by a line or two.
const BLANK_ROWS_MAX: u16 = 2;

impl Simulation<'_> {
    /// Returns what a key is believed to do to the cursor.
    pub(in crate::replay) fn motion(&self, key: Key) -> Option<Motion> {
        // A letter may be part of a command, unless those before it were motions, too.
        let is_text = matches!(key, Key::Text(_));
        let may_be_motion = !is_text || self.habits.takes_commands && self.stride.is_roaming;
        self.navigation.filter(|_| may_be_motion)?.motion(key)
    }

    /// Moves the cursor.
    pub(in crate::replay) fn navigate(&mut self, motion: Motion) -> Effect {
        let from = self.canvas.cursor;
        let Some(to) = self.destination(motion) else { return Effect::Unknown };
        if from == to {
            return Effect::Nothing;
        }
        if motion.is_vertical() {
            self.stride.goal = Some(self.stride.goal.unwrap_or(from.column));
            self.layout = Layout::of_row(to.row);
            self.start = to.column;
            self.right = self.pane.right;
            self.end = self.text_end(to.row).max(to.column);
            self.has_climbed = true;
        } else {
            self.stride.goal = None;
        }
        self.canvas.cursor = to;
        self.column = Some(to.column);
        self.rule_to(to);
        Effect::Drawn
    }

    /// Turns the numbers that say where the cursor is.
    pub(super) fn rule_to(&mut self, to: Position) {
        let from = core::mem::replace(&mut self.ruled, to);
        let ruler = self.navigation.map(|navigation| &navigation.ruler);
        if let Some(ruler) = ruler.filter(|ruler| ruler.is_known()) {
            let step = self.step(from, to);
            ruler.draw(&mut self.canvas, step);
        }
    }

    /// Returns how the cursor has moved since the first key.
    pub(in crate::replay) fn step_from(&self, from: Position) -> Step {
        self.step(from, self.canvas.cursor)
    }

    fn step(&self, from: Position, to: Position) -> Step {
        // While vi inserts, the end of an empty line is a column like others.
        let inserts = matches!(self.kind, Kind::Insert | Kind::Replace);
        Step { from, to, is_to_empty: !inserts && self.text_end(to.row) <= self.left }
    }

    fn destination(&self, motion: Motion) -> Option<Position> {
        let from = self.canvas.cursor;
        if self.suggested.is_some() || from.row != self.layout.row || self.waits() {
            return None;
        }
        let end = self.text_end(from.row);
        let column = match motion {
            Motion::Up | Motion::Down => return self.climb(motion),
            Motion::Left if from.column > self.left => self.before(from.column),
            Motion::Right if from.column + 1 < end => self.after_in(from, end),
            Motion::Right if from.column + 1 == end && !self.stops_on_last()? => end,
            // At an edge some go to the next line, and some do not.
            Motion::Left | Motion::Right => return None,
            Motion::Start => self.left,
            Motion::Indent => self.indent(from.row).filter(|column| *column < end)?,
            Motion::End if end <= self.left => return None,
            Motion::End => end - u16::from(self.stops_on_last()?),
        };
        let to = Position { column, ..from };
        let is_skipping = !self.is_bold && !matches!(motion, Motion::Start | Motion::End);
        let is_skipped = |column| self.text_at(Position { column, ..from }) == ' ';
        let may_skip = is_skipping && is_skipped(from.column) && is_skipped(column) && column < end;
        (!may_skip || self.has_no_tabs()).then_some(to)
    }

    /// Returns where a motion up or down leads: as far to the right as the text goes, and the goal is.
    fn climb(&self, motion: Motion) -> Option<Position> {
        let from = self.canvas.cursor;
        let row = match motion {
            Motion::Up => from.row.checked_sub(1)?,
            _ => from.row.checked_add(1)?,
        };
        let is_within = (self.pane.top..self.pane.bottom).contains(&row);
        if !is_within || self.is_full(row) || self.is_full(from.row) {
            return None;
        }
        if !self.is_bold && !self.may_enter(row, motion) {
            return None;
        }
        let goal = self.stride.goal.unwrap_or(from.column);
        let end = self.text_end(row);
        let last = if goal >= end && end > self.left {
            end - u16::from(self.stops_on_last()?)
        } else {
            end
        };
        let to = Position { row, column: goal.min(last).max(self.left) };
        let is_half =
            to.column > 0 && self.canvas.is_wide(Position { column: to.column - 1, ..to });
        let is_behind_blank =
            to.column == self.left || self.text_at(Position { column: to.column - 1, ..to }) == ' ';
        let stands_in_blanks = to.column < end && self.text_at(to) == ' ' && is_behind_blank;
        let is_at_start = to.column == self.left && self.stops_on_last() != Some(true);
        let may_skip = !self.is_bold && stands_in_blanks && !is_at_start;
        (!is_half && (!may_skip || self.has_no_tabs())).then_some(to)
    }

    /// Returns whether a row is known to be one that the cursor can go to without anything scrolling.
    fn may_enter(&self, row: u16, motion: Motion) -> bool {
        let Some(navigation) = self.navigation else { return false };
        let ground = self.canvas.ground();
        let is_beyond = |row| {
            let end = self.text_end(row);
            end <= self.left
                || end == self.left + 1 && self.text_at(Position { row, column: self.left }) == '~'
        };
        let below = row..self.pane.bottom.min(row.saturating_add(BLANK_ROWS_MAX + 1));
        let is_end = below.into_iter().all(is_beyond);
        if navigation.was_visited(ground, &self.pane, row) {
            // Below an empty last line is none.
            return !is_end || !is_beyond(self.canvas.cursor.row);
        }
        Navigation::is_inner(&self.pane, row, motion) && !is_end
    }

    /// Returns the column behind the text of a row.
    pub(super) fn text_end(&self, row: u16) -> u16 {
        let last = self.canvas.last_text(row, self.left..self.pane.right);
        last.map_or(self.left, |column| {
            column + 1 + u16::from(self.canvas.is_wide(Position { row, column }))
        })
    }

    /// Returns the first column of a row that is no blank.
    pub(super) fn indent(&self, row: u16) -> Option<u16> {
        (self.left..self.pane.right)
            .find(|column| self.text_at(Position { row, column: *column }) != ' ')
    }

    /// Returns whether the text of a row may go on in the next.
    pub(super) fn is_full(&self, row: u16) -> bool {
        self.text_end(row) >= self.pane.right
    }

    pub(super) fn text_at(&self, at: Position) -> char {
        self.canvas.text(at).base.unwrap_or(' ')
    }

    fn after_in(&self, at: Position, end: u16) -> u16 {
        (at.column + 1 + u16::from(self.canvas.is_wide(at))).min(end)
    }

    fn stops_on_last(&self) -> Option<bool> {
        self.stops_on_last
            .or_else(|| self.navigation.and_then(|navigation| navigation.stops_on_last))
    }

    fn has_no_tabs(&self) -> bool {
        self.navigation.is_some_and(|navigation| navigation.has_tabs == Some(false))
    }
}
