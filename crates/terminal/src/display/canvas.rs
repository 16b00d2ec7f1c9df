//! Draws a frame: scrolls, perhaps clears, and then draws each row that differs.

use std::sync::Arc;

use super::brush::Brush;
use super::dialect::{Dialect, History};
use super::doubt::joins_row_above;
use super::edit::draw_row;
use super::line::{Drawn, Line, is_settled};
use super::scroll;
use crate::screen::Screen;
use crate::screen::cell::Pen;
use crate::screen::row::Row;

/// Most scrolls that are tried for a frame. Rows that moved otherwise are drawn. Chosen: a scroll for each split pane.
const SCROLLS_MAX: usize = 4;

/// Most cells that all trials of scrolls for a frame examine. Each trial examines the whole screen, and one is always
/// made. Chosen: four trials at 200 columns and 60 rows. 100,000 cells take some milliseconds.
const SCROLLED_CELLS_MAX: usize = 48_000;

/// Shortest frame, in bytes, for which a clear before the drawing is tried. Chosen: shorter frames gain nothing.
const CLEAR_MIN: usize = 32;

/// Appends to `out` the bytes that turn the cells, cursor and pen of `shown` into those of `new`, and returns `out`. If
/// `repaint` is true, the bytes do not depend on what the terminal displays.
pub(crate) fn picture(
    out: Vec<u8>,
    shown: &Screen,
    new: &Screen,
    repaint: bool,
    dialect: Dialect,
) -> Vec<u8> {
    let brush = Brush::new(out, shown, dialect);
    if !repaint && shown.rows == new.rows {
        return brush.finish(new);
    }
    let start = brush.checkpoint();
    let blank = Arc::new(Row::erased(new.size.columns(), Pen::default()));
    let mut canvas = Canvas { brush, rows: shown.rows.clone(), blank };
    if repaint {
        canvas.brush.reset(new.size);
        canvas.rows = vec![Arc::clone(&canvas.blank); new.rows.len()];
    }
    let cells = usize::from(new.size.columns()) * new.rows.len();
    let scrolls_max = (SCROLLED_CELLS_MAX / cells).clamp(1, SCROLLS_MAX);
    let mut canvases = vec![canvas];
    while canvases.len() <= scrolls_max
        && let Some(scrolled) = canvases.last().and_then(|canvas| canvas.scrolled(new))
    {
        canvases.push(scrolled);
    }
    // The canvas with the most scrolls usually gives the fewest bytes. Drawn first, it lets others stop early.
    let mut best = None;
    for canvas in canvases.iter().rev() {
        best = canvas.draw(new, best.as_ref()).or(best);
    }
    // A clear is tried only on a replica: on a real terminal, it would flicker.
    if dialect.replica
        && !repaint
        && best.as_ref().is_some_and(|best| best.since(&start) >= CLEAR_MIN)
    {
        best = canvases[0].cleared().draw(new, best.as_ref()).or(best);
    }
    best.expect("the first canvas is drawn to the end").finish(new)
}

/// A trial of a frame: the brush's bytes, and the rows that they display.
#[derive(Clone, Debug)]
struct Canvas {
    brush: Brush,
    rows: Vec<Arc<Row>>,
    /// A row that was erased with the default pen.
    blank: Arc<Row>,
}

impl Canvas {
    /// Draws every row that differs from `new`. `None` if the drawing takes at least as many bytes as `best`. Leaves
    /// `self` unchanged for further trials.
    fn draw(&self, new: &Screen, best: Option<&Brush>) -> Option<Brush> {
        let Self { mut brush, rows, .. } = self.erased_below(new);
        let dialect = brush.dialect;
        let mut drawn = Drawn::default();
        for ((was, now), row) in rows.iter().zip(&new.rows).zip(0_u16..) {
            let can_wrap = dialect.replica || !joins_row_above(now, dialect.clusters);
            drawn = if drawn.wraps && can_wrap {
                Line::new(&mut brush, row, was, now).draw_wrapped_to()
            } else if was != now {
                draw_row(&mut brush, row, was, now)
            } else {
                Drawn::default()
            };
            if best.is_some_and(|best| brush.len() >= best.len()) {
                return None;
            }
        }
        if let (Some(was), Some(now)) = (rows.last(), new.rows.last())
            && now.wrapped
            && was != now
            && brush.dialect.replica
            && bottom_row_can_wrap(new)
        {
            brush.wrap_bottom_row(now);
        }
        Some(brush).filter(|brush| best.is_none_or(|best| brush.len() < best.len()))
    }

    /// Returns a copy of the canvas. If two or more written rows at the bottom must become blank, erases them at once.
    fn erased_below(&self, new: &Screen) -> Self {
        let mut canvas = self.clone();
        let is_blank = |row: &&Arc<Row>| Arc::ptr_eq(row, &self.blank) || **row == self.blank;
        let kept = new.rows.len() - new.rows.iter().rev().take_while(is_blank).count();
        // If rows of a cleared screen must not enter the history, no sequence may erase the whole screen.
        let kept = kept.max(usize::from(self.brush.dialect.history != History::Frames));
        let written = self.rows[kept..].iter().filter(|row| !is_blank(row)).count();
        if written >= 2 {
            canvas.erase_from(kept);
        }
        canvas
    }

    fn cleared(&self) -> Self {
        let mut canvas = self.clone();
        canvas.erase_from(0);
        canvas
    }

    fn erase_from(&mut self, row: usize) {
        self.brush.go(u16::try_from(row).expect("a screen has at most 2048 rows"), 0);
        self.brush.erase_below();
        self.rows[row..].fill(Arc::clone(&self.blank));
    }

    /// Returns the canvas after the scroll that moves the most text into place. `None` if no scroll helps.
    fn scrolled(&self, new: &Screen) -> Option<Self> {
        let scroll = scroll::find(&self.rows, &new.rows)?;
        let scroll = match self.brush.dialect.history {
            History::LinesOnly => scroll.below_top()?,
            History::Frames | History::FramesOnly => scroll,
        };
        let mut canvas = self.clone();
        let row = |row: usize| u16::try_from(row).expect("a screen has at most 2048 rows");
        canvas.brush.scroll(row(scroll.top), row(scroll.bottom), row(scroll.lines), scroll.up);
        scroll.apply(&mut canvas.rows, &self.blank);
        Some(canvas)
    }
}

/// Returns whether drawing can set the wrap flag of the bottom row. Two rows must be above it for the margins. All
/// terminals must agree on the width of the row's last character. The first character must not overwrite the last.
fn bottom_row_can_wrap(new: &Screen) -> bool {
    let now = new.rows.last().expect("a screen has a row");
    let last = now.last_glyph();
    new.rows.len() >= 3 && is_settled(&now.cells[usize::from(last)]) && last >= now.cells[0].width()
}
