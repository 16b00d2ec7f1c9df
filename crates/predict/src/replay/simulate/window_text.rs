//! The text of a full-screen program, over which the cursor moves.

use rove_terminal::Position;

use crate::replay::canvas::Canvas;
use crate::replay::motion::Motion;
use crate::replay::simulate::cursor_motion::CursorMotion;
use crate::scene::Pane;

/// Most blank rows after which a window's text may continue. Chosen: paragraphs have a line or two between them.
const BLANK_ROWS_MAX: u16 = 2;

/// The text of a window, and the known motions of its cursor.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowText<'a> {
    pub(super) canvas: &'a Canvas<'a>,
    pub(super) pane: &'a Pane,
    /// The first column of the window's text.
    pub(super) left: u16,
    pub(super) motions: &'a CursorMotion<'a>,
}

impl WindowText<'_> {
    /// Returns the position to which a motion leads. `None` if it is unknown.
    pub(super) fn destination(&self, motion: Motion) -> Option<Position> {
        let from = self.canvas.cursor;
        let end = self.text_end(from.row);
        let column = match motion {
            Motion::Up | Motion::Down => return self.climb(motion),
            Motion::Left if from.column > self.left => self.before(from),
            Motion::Right if from.column + 1 < end => {
                (from.column + 1 + u16::from(self.canvas.is_wide(from))).min(end)
            }
            Motion::Right if from.column + 1 == end && !self.motions.stops_on_last()? => end,
            // At an end of a line, programs differ: the cursor moves to the next line or stays.
            Motion::Left | Motion::Right => return None,
            Motion::Start => self.left,
            Motion::End if end <= self.left => return None,
            Motion::End => end - u16::from(self.motions.stops_on_last()?),
        };
        let to = Position { column, ..from };
        // Blanks may be tabs, which the cursor skips.
        let is_skipping = !self.motions.is_bold && !matches!(motion, Motion::Start | Motion::End);
        let is_skipped = |column| self.text_at(Position { column, ..from }) == ' ';
        let may_skip = is_skipping && is_skipped(from.column) && is_skipped(column) && column < end;
        (!may_skip).then_some(to)
    }

    /// Returns where a motion up or down leads, if known: to the column of the first such motion, or a shorter row's
    /// end.
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
        if !self.motions.is_bold && !self.may_enter(row, motion) {
            return None;
        }
        let goal = self.motions.goal().unwrap_or(from.column);
        let end = self.text_end(row);
        let last = if goal >= end && end > self.left {
            end - u16::from(self.motions.stops_on_last()?)
        } else {
            end
        };
        let to = Position { row, column: goal.min(last).max(self.left) };
        let is_half =
            to.column > 0 && self.canvas.is_wide(Position { column: to.column - 1, ..to });
        let is_behind_blank =
            to.column == self.left || self.text_at(Position { column: to.column - 1, ..to }) == ' ';
        let stands_in_blanks = to.column < end && self.text_at(to) == ' ' && is_behind_blank;
        let is_at_start = to.column == self.left && self.motions.stops_on_last() != Some(true);
        let may_skip = !self.motions.is_bold && stands_in_blanks && !is_at_start;
        (!is_half && !may_skip).then_some(to)
    }

    /// Returns whether the cursor can move to a row without scrolling the text, as far as that is known.
    fn may_enter(&self, row: u16, motion: Motion) -> bool {
        let Some(guide) = self.motions.guide else { return false };
        let screen = self.canvas.screen();
        let is_beyond = |row| {
            let end = self.text_end(row);
            end <= self.left
                || end == self.left + 1 && self.text_at(Position { row, column: self.left }) == '~'
        };
        let below = row..self.pane.bottom.min(row.saturating_add(BLANK_ROWS_MAX + 1));
        let is_end = below.into_iter().all(is_beyond);
        if guide.was_visited(screen, self.pane, row) {
            // If the text has ended in the cursor's row, the cursor may already be on the last line.
            return !is_end || !is_beyond(self.canvas.cursor.row);
        }
        motion.stays_within(self.pane, row) && !is_end
    }

    /// Returns the column after the text of a row.
    pub(super) fn text_end(&self, row: u16) -> u16 {
        let last = self.canvas.last_text(row, self.left..self.pane.right);
        last.map_or(self.left, |column| {
            column + 1 + u16::from(self.canvas.is_wide(Position { row, column }))
        })
    }

    /// Returns whether the text of a row may continue in the next row.
    fn is_full(&self, row: u16) -> bool {
        self.text_end(row) >= self.pane.right
    }

    fn text_at(&self, at: Position) -> char {
        self.canvas.text(at).base.unwrap_or(' ')
    }

    fn before(&self, at: Position) -> u16 {
        let one = at.column - 1;
        let is_half = one > self.left && self.canvas.is_wide(Position { column: one - 1, ..at });
        one - u16::from(is_half)
    }
}
