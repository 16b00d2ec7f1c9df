//! What a key of unknown effect has done to the screen, as far as it does the same each time: a line of input
//! that opens at an edge of the screen, the name of a mode that comes or goes there.

use core::ops::Range;

use rove_terminal::{Cell, Position, Screen};

use crate::replay::canvas::{Canvas, Text, Tile, cell, is_same_row};
use crate::replay::ruler::{self, Step, characters};
use crate::scene::{self, Pane};

/// Most rows that an answer changes. Chosen: a prompt, and the help that nano shows below.
const ROWS_MAX: usize = 4;

/// Rows at the edges of a window, and of the screen, in which lines of input open. Source: vim, less, mutt, Emacs, htop:
/// the last one; tmux's and nano's have others below.
const EDGE_ROWS: u16 = 3;

/// Columns that one character takes at most.
const CHARACTER_COLUMNS: u16 = 2;

/// Blanks that part two texts in a row.
const GAP: usize = 2;

/// What a key does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// Where the cursor goes. All of what is possible by what was seen, of which one is right.
    targets: Vec<Target>,
    parts: Vec<Part>,
}

/// Where a cursor goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// To a place on the screen, its row counted from below.
    At {
        row_from_below: u16,
        column: u16,
    },
    Stay,
    Left,
    Right,
    /// Behind the text of its row.
    End,
    /// To the first character of its row that is no blank.
    Indent,
}

/// A part of a row, and what stands there then.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    row_from_below: u16,
    columns: Range<u16>,
    cells: Vec<Cell>,
    /// Whether the prompt is in it, with which all of the row changes.
    is_prompt: bool,
}

/// The part of the screen that a key acts in: the window, and where text begins in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) pane: Pane,
    pub(super) left: u16,
}

impl Answer {
    const STEPS: [Target; 5] =
        [Target::Stay, Target::Left, Target::Right, Target::End, Target::Indent];

    /// Returns what has made one screen of another; `None` if it is nothing of the kind.
    ///
    /// Where more than one target is possible it is the `usual` one.
    pub(super) fn between(
        before: &Screen,
        after: &Screen,
        place: Place,
        usual: Option<Target>,
    ) -> Option<Self> {
        let to = position(after);
        if !after.cursor().visible {
            return None;
        }
        let step = Step { from: position(before), to, is_to_empty: false };
        let mut changes = Vec::new();
        for row in (0..after.size().rows()).filter(|row| !is_same_row(before, after, *row)) {
            if let Some(columns) = first_change(before, after, row, step) {
                changes.push((row, columns));
            }
            if changes.len() > ROWS_MAX {
                return None;
            }
        }
        let rows_from_below = |row| after.size().rows() - row;
        let mut parts = Vec::new();
        let is_prompt = changes.iter().any(|(row, _)| *row == to.row);
        for (row, columns) in changes {
            let is_prompt = row == to.row;
            let columns = if is_prompt { prompt_columns(before, after)? } else { columns };
            let cells: Vec<Cell> =
                columns.clone().map(|column| cell(after, Position { row, column })).collect();
            // What combines with a character is kept elsewhere.
            if cells.iter().any(|cell| cell.combined) {
                return None;
            }
            parts.push(Part { row_from_below: rows_from_below(row), columns, cells, is_prompt });
        }
        let targets = if is_prompt {
            vec![Target::At { row_from_below: rows_from_below(to.row), column: to.column }]
        } else {
            let canvas = Canvas::new(before);
            // At the start of a line, it is none that goes to the left.
            let may_be = |target: &Target| *target != Target::Left || to != step.from;
            let leads =
                |target: &Target| may_be(target) && target.place(&canvas, place) == Some(to);
            let possible: Vec<Target> = Self::STEPS.into_iter().filter(leads).collect();
            usual.filter(|usual| possible.contains(usual)).map_or(possible, |usual| vec![usual])
        };
        let is_something = !targets.is_empty() && !parts.is_empty();
        is_something.then_some(Self { targets, parts })
    }

    /// Returns whether it opens a line of input.
    pub(super) fn opens_line(&self) -> bool {
        self.parts.iter().any(|part| part.is_prompt)
    }

    /// Returns the prompt of the line that it opens, empty if it opens none.
    pub(super) fn prompt(&self) -> String {
        let cells = self.parts.iter().filter(|part| part.is_prompt).flat_map(|part| &part.cells);
        let text: String = cells.map(|cell| cell.base.unwrap_or(' ')).collect();
        text.trim().to_owned()
    }

    /// Draws what it does; returns `None` where that is not known.
    pub(super) fn apply(&self, canvas: &mut Canvas<'_>, place: Place) -> Option<()> {
        let (first, others) = self.targets.split_first()?;
        let to = first.place(canvas, place)?;
        if others.iter().any(|other| other.place(canvas, place) != Some(to)) {
            return None;
        }
        for part in &self.parts {
            part.draw(canvas)?;
        }
        canvas.cursor = to;
        Some(())
    }

    /// Returns it with what is possible by now, if it has made one screen of another, but for numbers that follow the
    /// cursor.
    pub(super) fn explains(&self, before: &Screen, after: &Screen, place: Place) -> Option<Self> {
        let mut canvas = Canvas::new(before);
        let to = position(after);
        let mut found = self.clone();
        found.targets.retain(|target| target.place(&canvas, place) == Some(to));
        found.apply(&mut canvas, place)?;
        let mut expected = before.clone();
        canvas.draw(&mut expected, false);
        let step = Step { from: position(before), to, is_to_empty: false };
        let mut rows = (0..after.size().rows()).filter(|row| !is_same_row(&expected, after, *row));
        rows.all(|row| first_change(&expected, after, row, step).is_none()).then_some(found)
    }
}

impl Target {
    /// Returns where that is.
    fn place(self, canvas: &Canvas<'_>, place: Place) -> Option<Position> {
        let from = canvas.cursor;
        let is_text = |column: &u16| !canvas.text(Position { column: *column, ..from }).is_blank();
        let columns = place.left..place.pane.right;
        let is_half = |column| canvas.is_wide(Position { column, ..from });
        let column = match self {
            Self::At { row_from_below, column } => {
                let row = canvas.ground().size().rows().checked_sub(row_from_below)?;
                return Some(Position { row, column });
            }
            Self::Stay => from.column,
            Self::Left if from.column == place.left => from.column,
            // Behind nothing but blanks, some editors take these away.
            Self::Left if !(place.left..from.column).any(|column| is_text(&column)) => return None,
            Self::Left => {
                let column = from.column.checked_sub(1)?;
                column - u16::from(column > 0 && is_half(column - 1))
            }
            Self::Right => from.column + 1 + u16::from(is_half(from.column)),
            Self::End => match columns.rev().find(is_text) {
                Some(last) => last + 1 + u16::from(is_half(last)),
                None => place.left,
            },
            Self::Indent => columns.into_iter().find(is_text)?,
        };
        (column < place.pane.right).then_some(Position { column, ..from })
    }
}

impl Part {
    fn draw(&self, canvas: &mut Canvas<'_>) -> Option<()> {
        let size = canvas.ground().size();
        let row = size.rows().checked_sub(self.row_from_below)?;
        let at = |column| Position { row, column };
        for (column, cell) in self.columns.clone().zip(&self.cells) {
            let tile = match cell.base {
                Some(base) => Tile::Typed { base, wide: cell.wide, pen: cell.pen },
                None => Tile::Blank(cell.pen),
            };
            canvas.put(at(column), tile);
        }
        // What stood there may have been longer.
        let mut column = self.columns.end;
        while !self.is_prompt && column < size.columns() {
            let is_blank = |column| canvas.text(at(column)).is_blank();
            if is_blank(column) && is_blank(column + 1) {
                break;
            }
            canvas.put(at(column), Tile::Blank(canvas.pen(at(column)).erased()));
            column += 1;
        }
        Some(())
    }
}

/// Returns whether the cursor has gone to behind a prompt that was not there before.
pub(super) fn opens_line(before: &Screen, after: &Screen) -> bool {
    prompt_columns(before, after).is_some()
}

/// Returns the columns of the row with the cursor, where that stands behind a prompt that was not there before.
fn prompt_columns(before: &Screen, after: &Screen) -> Option<Range<u16>> {
    let to = position(after);
    let is_blank = |column| Text::of(after, Position { column, ..to }).is_blank();
    let is_same = |column| {
        let at = Position { column, ..to };
        Text::of(before, at) == Text::of(after, at)
    };
    // Text is typed there that goes on where it ended, or begins a row.
    let from = position(before);
    let goes_on = from.column > 0 || to.column <= CHARACTER_COLUMNS;
    if from.row == to.row && goes_on && (0..from.column.min(to.column)).all(is_same) {
        return None;
    }
    let pane = scene::pane(after, to);
    let edges = [0, pane.top, pane.bottom, after.size().rows()];
    if !edges.iter().any(|edge| to.row.abs_diff(*edge) <= EDGE_ROWS) {
        return None;
    }
    let (left, right) = (pane.left..to.column, to.column..pane.right);
    let outside = (0..pane.left).chain(pane.right..after.size().columns());
    let is_prompt = !left.into_iter().all(is_blank)
        && right.into_iter().all(is_blank)
        && outside.into_iter().all(is_same);
    is_prompt.then_some(pane.left..pane.right)
}

/// Returns the first text of a row that has changed, but for numbers that have followed the cursor. Others behind it
/// come and go by themselves: a command that is being typed, a clock.
fn first_change(before: &Screen, after: &Screen, row: u16, step: Step) -> Option<Range<u16>> {
    let old: Vec<char> = characters(before, row).collect();
    let new: Vec<char> = characters(after, row).collect();
    let mut column = 0;
    let is_blank = |column: usize| {
        let is_space = |line: &[char]| line.get(column).is_none_or(|c| *c == ' ');
        is_space(&old) && is_space(&new)
    };
    while column < new.len() {
        if is_blank(column) {
            column += 1;
            continue;
        }
        let start = column;
        while column < new.len() && !(column..column + GAP).all(is_blank) {
            column += 1;
        }
        let run = start..column;
        let is_ruler = || ruler::explains(row, &old, &new, run.clone(), step);
        if old[run.clone()] != new[run.clone()] && !is_ruler() {
            let of = |column: usize| u16::try_from(column).unwrap_or(u16::MAX);
            return Some(of(run.start)..of(run.end));
        }
    }
    None
}

fn position(screen: &Screen) -> Position {
    let cursor = screen.cursor();
    Position { row: cursor.row, column: cursor.column }
}

#[cfg(test)]
mod tests {
    use rove_terminal::{Size, Terminal};

    use super::*;

    #[test]
    fn a_line_of_input_opens_elsewhere_than_where_text_is_typed() {
        for (before, key, opens) in [
            // The first letter of a row, and the next one.
            ("\x1b[4;1H", "t", false),
            ("\x1b[4;1H", "木", false),
            ("\x1b[4;1Ht", "h", false),
            // A command line below, and one that takes the place of a prompt or of nothing.
            ("\x1b[4;1H", "\x1b[16;1H:", true),
            ("\x1b[16;1H:", "\r/", true),
            ("\x1b[16;1H", "Limit: ", true),
        ] {
            let mut terminal = Terminal::host(Size::new(80, 16).unwrap());
            terminal.write(before.as_bytes());
            let old = terminal.snapshot();
            terminal.write(key.as_bytes());
            let is_opened = opens_line(&old, &terminal.snapshot());
            assert_eq!(is_opened, opens, "{:?} behind {:?}", key, before);
        }
    }
}
