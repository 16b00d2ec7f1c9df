//! Draws a row: chooses the cells to write, and writes their bytes.
//!
//! Terminals differ in how they draw clusters, such as emoji joined by U+200D. Many draw a whole cluster into the
//! columns of its first character, and others draw each character into its own columns. So a real terminal's row is
//! erased from its first cluster on before anything is written there. The bytes of a cluster are written together, so
//! that a terminal can join them. The next cell is positioned absolutely. Empty columns between the cluster and that
//! cell are blank, and show no older text.

use std::borrow::Cow;

use super::brush::Brush;
use super::doubt::{
    first_cluster, is_narrowed, joins_previous, may_be_wide, may_fall_short, surplus,
    width_is_settled,
};
use super::motion::Place;
use crate::screen::cell::{Cell, Pen};
use crate::screen::decoration::Decoration;
use crate::screen::row::Row;

/// Most unchanged cells that are written again to reach a changed cell. Chosen: a motion takes four bytes.
const BRIDGE_MAX: usize = 4;

/// Most blank cells that are written as spaces on a real terminal. A longer run is erased. Source: Mosh 1.4.0 as
/// observed, docs/terminal.md.
const SPACES_MAX: u16 = 4;

/// Facts about a drawn row that matter for the next row or for another trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Drawn {
    /// Whether the terminal wraps by itself if the first cell of the next row is written directly afterwards.
    pub(super) wraps: bool,
    /// The number of erasing sequences written.
    pub(super) erasures: u16,
}

/// A row while its cells are drawn from left to right.
#[derive(Debug)]
pub(super) struct Line<'a> {
    brush: &'a mut Brush,
    row: u16,
    was: Cow<'a, Row>,
    now: &'a Row,
    /// Left of this column, the terminal may display something other than the old row `was`.
    stale_until: u16,
    /// From this column on, a real terminal may display anything. These columns are erased before they are written.
    doubt_from: u16,
    /// Inside a cluster: how many columns too far right the terminal's cursor may be, and the column after the cluster.
    /// `None` outside of a cluster.
    cluster: Option<(u16, u16)>,
    /// Whether any cell of the row has a decoration that the terminal can show.
    decorated: bool,
    /// The last column, if its unchanged cell must be written again to set or clear the wrap flag.
    forced: Option<u16>,
    /// Whether the row must end with a wrap into the next row.
    wrapped: bool,
    drawn: Drawn,
}

impl<'a> Line<'a> {
    /// Prepares to draw `now` in row `row`, which displays `was`.
    pub(super) fn new(brush: &'a mut Brush, row: u16, was: &'a Row, now: &'a Row) -> Self {
        let columns = brush.size.columns();
        let last = now.last_glyph();
        let below = row + 1 < brush.size.rows();
        let replica = brush.dialect.replica;
        let wrapped = now.wrapped
            && below
            && is_settled(&now.cells[usize::from(last)])
            && (replica || !joins_previous(now, last));
        let forced = (wrapped && !was.wrapped || was.wrapped && !now.wrapped).then_some(last);
        let doubt_from = match replica {
            true => columns,
            // tmux ends a row's wrap only if the row is erased from its first cell on.
            false if was.wrapped && !now.wrapped => 0,
            false => first_doubt(was, now),
        };
        let shows_decorations =
            brush.dialect.repertoire.links || brush.dialect.repertoire.underline_colors;
        let decorated =
            shows_decorations && !(was.decorations.is_empty() && now.decorations.is_empty());
        Self {
            brush,
            row,
            was: Cow::Borrowed(was),
            now,
            stale_until: 0,
            doubt_from,
            cluster: None,
            decorated,
            forced,
            wrapped,
            drawn: Drawn::default(),
        }
    }

    /// Draws the row by printing its first cell directly after the row above, which thereby gets its wrap flag.
    pub(super) fn draw_wrapped_to(mut self) -> Drawn {
        let (brush, now) = (&mut *self.brush, self.now);
        let first = &now.cells[0];
        let printed = first.base.is_some() && first.width() <= brush.size.columns();
        let width = if printed { first.width() } else { 1 };
        if printed {
            brush.print(first, now.marks(0), now.decoration(0));
        } else {
            brush.print_spaces(1);
        }
        // A real terminal that the user widened does not wrap here. So the cell is written again at the row's start.
        let known = !printed || is_settled(first);
        if known && brush.dialect.replica {
            brush.wrapped_to(self.row, width);
        } else {
            brush.doubt();
        }
        let trusted = printed && brush.dialect.replica;
        self.wrote_up_to(width);
        if trusted {
            self.note_print(0, width);
            self.draw_from(width)
        } else {
            self.stale_until = self.stale_until.max(width);
            self.draw_from(0)
        }
    }

    pub(super) fn draw(self) -> Drawn {
        self.draw_from(0)
    }

    fn draw_from(mut self, start: u16) -> Drawn {
        let columns = self.brush.size.columns();
        let mut column = start;
        while column < columns {
            if column >= self.doubt_from {
                self.erase_doubt(column);
            }
            let cell = &self.now.cells[usize::from(column)];
            let width = cell.width().min(columns - column);
            if self.is_shown(column) {
                column += width;
            } else if cell.is_blank() || width < cell.width() {
                column = self.erase_run(column);
            } else {
                self.print(column, cell);
                column += width;
            }
        }
        let in_margin = matches!(self.brush.place(), Place::Margin { .. });
        self.drawn.wraps &= self.wrapped && in_margin;
        self.drawn
    }

    fn print(&mut self, column: u16, cell: &Cell) {
        let marks = self.now.marks(column);
        if self.brush.dialect.replica {
            self.go(column);
            if cell.base.is_none() {
                self.brush.print_marks(self.row, column, cell, marks);
            } else {
                self.brush.print(cell, marks, self.now.decoration(column));
            }
        } else {
            self.print_for_real(column, cell, marks);
        }
        self.wrote_up_to(column + cell.width());
        self.note_print(column, cell.width());
    }

    /// Prints a cell on a real terminal, which may join it to the cell on its left.
    fn print_for_real(&mut self, column: u16, cell: &Cell, marks: &str) {
        let end = column + cell.width();
        // If clusters are supported, each cluster is in one cell, and two cells must not be joined.
        let clusters = self.brush.dialect.clusters;
        let joins = !clusters && joins_previous(self.now, column);
        if clusters && !is_settled(cell) {
            self.brush.doubt();
        }
        let surplus = surplus(cell, marks);
        // A terminal that gives the cluster more columns than rove does needs room for them, or it would wrap.
        let has_room = |before: u16| end + before + surplus <= self.brush.size.columns();
        let before = match self.cluster {
            Some((before, here)) if joins && here == column && has_room(before) => before,
            _ => {
                self.go(column);
                if may_fall_short(cell) {
                    self.blank(column, cell);
                }
                0
            }
        };
        if end == self.brush.size.columns()
            && (is_narrowed(cell) || may_be_wide(cell, self.brush.dialect.wide_flags))
        {
            // A terminal that draws the character wide would wrap, even before it reads a selector that narrows it.
            let shown = Cell { base: Some(char::REPLACEMENT_CHARACTER), combined: false, ..*cell };
            self.brush.print(&shown, "", self.now.decoration(column));
        } else {
            self.brush.print(cell, marks, self.now.decoration(column));
        }
        if joins {
            self.brush.doubt();
        }
        if before > 0 {
            // A terminal that draws the parts of the cluster separately has overwritten cells after the cluster.
            self.stale_until = self.stale_until.max(end + before + surplus);
        }
        self.cluster = Some((before + surplus, end));
    }

    /// Blanks the columns of a cell that the terminal may draw narrower, unless they are already blank. The cursor must
    /// be in `column`, and stays there.
    fn blank(&mut self, column: u16, cell: &Cell) {
        let (pen, width) = (cell.pen.erased(), cell.width());
        let blank = Cell::erased(pen);
        let columns = usize::from(column)..usize::from(column + width);
        if column >= self.stale_until && self.was.cells[columns].iter().all(|was| *was == blank) {
            return;
        }
        if self.brush.can_erase(pen) && self.brush.dialect.functions.erase_characters {
            self.brush.erase_characters(pen, width);
        } else {
            self.brush.paint_with(pen, Decoration::NONE);
            self.brush.print_spaces(width);
            self.brush.go(self.row, column);
        }
    }

    /// Erases the row from `column` on, where a real terminal may display anything.
    fn erase_doubt(&mut self, column: u16) {
        let last = self.now.cells.last().expect("a row has a cell");
        // If the row ends in a background colour, the erased cells get this colour.
        let pen =
            Some(last.pen.erased()).filter(|&pen| last.is_blank() && self.brush.can_erase(pen));
        let pen = pen.unwrap_or_default();
        self.go(column);
        self.brush.erase_line(pen);
        let columns = self.now.columns();
        let was = self.was.to_mut();
        was.cells[usize::from(column)..].fill(Cell::erased(pen));
        was.marks.clear(column..columns);
        was.decorations.clear(column..columns);
        self.stale_until = self.stale_until.min(column);
        self.doubt_from = columns;
        self.drawn.erasures += 1;
    }

    fn note_print(&mut self, column: u16, width: u16) {
        self.drawn.wraps = column + width == self.brush.size.columns();
    }

    /// Blanks the cells from `column` on that must be blank in one colour. Returns the column after the last of them.
    fn erase_run(&mut self, column: u16) -> u16 {
        let pen = self.now.cells[usize::from(column)].pen.erased();
        let columns = self.brush.size.columns();
        let alike = |cell: &&Cell| cell.is_blank() && cell.pen.erased() == pen;
        let rest = &self.now.cells[usize::from(column)..];
        let count = rest.iter().take_while(alike).count().max(1);
        let end = column + u16::try_from(count).expect("a row has at most 4096 cells");
        // Cells at the end of the run that the terminal already displays are left alone.
        let needed = (column..end).rev().find(|&at| !self.is_shown(at)).map_or(end, |at| at + 1);
        let dialect = self.brush.dialect;
        let few = !dialect.replica && needed - column <= SPACES_MAX;
        if self.brush.can_erase(pen) && end == columns {
            self.go_to_erase(column, pen);
            self.brush.erase_line(pen);
            self.wrote_up_to(columns);
            self.drawn.erasures += 1;
            return columns;
        }
        if self.brush.can_erase(pen) && dialect.functions.erase_characters && !few {
            let start = self.go_to_erase(column, pen);
            self.brush.erase_characters(pen, needed - start);
            self.drawn.erasures += 1;
        } else {
            self.go(column);
            self.brush.paint_with(pen, Decoration::NONE);
            self.brush.print_spaces(needed - column);
        }
        self.wrote_up_to(needed);
        needed
    }

    /// Moves the cursor to `column`. Rewrites a few unchanged cells on the way if that takes fewer bytes than a motion.
    fn go(&mut self, column: u16) {
        let now = self.now;
        let plain = |(cell, at): (&Cell, u16)| {
            self.brush.paints(cell.pen, now.decoration(at))
                && !cell.combined
                && cell.base.is_some_and(|c| matches!(c, ' '..='~'))
        };
        match self.cells_up_to(column) {
            Some((gap, from)) if gap.len() <= BRIDGE_MAX && gap.iter().zip(from..).all(plain) => {
                for (cell, at) in gap.iter().zip(from..) {
                    self.brush.print(cell, "", now.decoration(at));
                }
            }
            _ => self.brush.go(self.row, column),
        }
    }

    /// Moves the cursor to `column` to erase there. If all cells on the way are blank with the same pen, the cursor
    /// stays, so that these cells are erased too. Returns the cursor's column.
    fn go_to_erase(&mut self, column: u16, pen: Pen) -> u16 {
        if let Some((gap, here)) = self.cells_up_to(column)
            && gap.iter().all(|cell| cell.is_blank() && cell.pen == pen)
        {
            // The right half of a wide character must not be erased without its left half.
            if here > 0 && !self.now.cells[usize::from(here) - 1].wide {
                return here;
            }
        }
        self.go(column);
        column
    }

    /// Returns the cells from the cursor to `column`, and the cursor's column. `None` if the cursor is in another row
    /// or not left of `column`.
    fn cells_up_to(&self, column: u16) -> Option<(&'a [Cell], u16)> {
        let now: &'a Row = self.now;
        match self.brush.place() {
            Place::At(at) if at.row == self.row && at.column < column => {
                Some((&now.cells[usize::from(at.column)..usize::from(column)], at.column))
            }
            _ => None,
        }
    }

    /// Returns whether the terminal already displays the right cell in `column`.
    fn is_shown(&self, column: u16) -> bool {
        let at = usize::from(column);
        let (was, now) = (&self.was.cells, &self.now.cells);
        column >= self.stale_until
            && column < self.doubt_from
            && self.forced != Some(column)
            && self.is_alike(at)
            && (!now[at].wide || was.get(at + 1) == now.get(at + 1))
            && (!now[at].combined || self.was.marks(column) == self.now.marks(column))
    }

    /// Returns whether the old cell and the new cell in column `at` look alike on the terminal.
    fn is_alike(&self, at: usize) -> bool {
        let (was, now) = (&self.was.cells[at], &self.now.cells[at]);
        let repertoire = self.brush.dialect.repertoire;
        let alike = was == now || {
            let pen = |cell: &Cell| Cell { pen: repertoire.pen(cell.pen), ..*cell };
            pen(was) == pen(now)
        };
        let column = || u16::try_from(at).expect("a row has at most 4096 cells");
        alike
            && (!self.decorated
                || repertoire
                    .same_decoration(self.was.decoration(column()), self.now.decoration(column())))
    }

    /// Records that the columns left of `end` were overwritten. If this has cut a wide character, most terminals blank
    /// its other half.
    fn wrote_up_to(&mut self, end: u16) {
        let cut = self.was.cells[usize::from(end) - 1].wide;
        self.stale_until = self.stale_until.max(if cut { end + 1 } else { 0 });
    }
}

/// Returns whether the cursor's place is certain after the terminal has printed this cell, so that a wrap can follow.
pub(super) fn is_settled(cell: &Cell) -> bool {
    !cell.combined && cell.base.is_some_and(width_is_settled)
}

/// Returns the first column from which a real terminal may display anything, because of clusters in `was` or `now`.
/// Returns the row's width if the terminal displays the whole row as expected.
fn first_doubt(was: &Row, now: &Row) -> u16 {
    let (shown, coming) = (first_cluster(was), first_cluster(now));
    let nothing_is_there =
        || was.cells[usize::from(coming)..].iter().all(|cell| *cell == Cell::default());
    if coming < shown && nothing_is_there() { was.columns() } else { shown.min(coming) }
}
