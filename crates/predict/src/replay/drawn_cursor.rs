//! Programs that hide the terminal's cursor and draw their own as a single cell in reverse video, like those built with
//! Ink. To the models, the drawn cursor is the cursor. In a frame, it is at the predicted position.

use rove_terminal::{Attributes, Cell, Cursor, Position, Screen};

use crate::replay::base::Base;
use crate::replay::canvas::Canvas;
use crate::replay::id::PlaceId;
use crate::replay::memory::Memory;
use crate::replay::motion::Step;
use crate::replay::ruler::Ruler;
use crate::scene::text::cell;

/// Most programs with a drawn cursor whose counter of typed characters is remembered. Chosen: a session has one or two.
const COUNTERS_MAX: usize = 4;

/// The cursor that a program draws in reverse video.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DrawnCursor {
    at: Position,
    /// The terminal's own cursor, which the program hides.
    hidden: Cursor,
}

impl DrawnCursor {
    /// Finds the only single cell in reverse video on a screen whose cursor is hidden. `None` if there is no such cell,
    /// if there are several, or if the hidden cursor is in it. Menu bars and selections have more cells in a row.
    pub(super) fn find(screen: &Screen) -> Option<Self> {
        let hidden = screen.cursor();
        if hidden.visible {
            return None;
        }
        let mut found = (0..screen.size().rows()).flat_map(|row| {
            let cells = screen.row(row).map_or(&[][..], |row| row.cells());
            marks(cells).map(move |column| Position { row, column })
        });
        let at = found.next()?;
        let is_only = found.next().is_none() && at != hidden.position();
        is_only.then_some(Self { at, hidden })
    }

    /// Returns the screen with the terminal's cursor visible in place of the drawn one.
    pub(super) fn lift(self, screen: &Screen) -> Screen {
        let mut lifted = screen.clone();
        invert(&mut lifted, self.at, false);
        lifted.place_cursor(self.at);
        lifted.show_cursor(true);
        lifted
    }

    /// Draws a frame's cursor as the program draws it, and hides the terminal's cursor.
    pub(super) fn draw(self, frame: &mut Screen) {
        let at = frame.cursor().position();
        invert(frame, at, true);
        frame.place_cursor(self.hidden.position());
        frame.show_cursor(false);
    }
}

/// The numbers on the screen that count typed characters, in windows with a drawn cursor.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    known: Memory<PlaceId, Ruler, COUNTERS_MAX>,
}

impl Counters {
    /// Learns from a screen that shows pending keys. After these keys, the input ends at column `end`.
    pub(super) fn learn(&mut self, base: &Base, screen: &Screen, end: u16) {
        if base.has_drawn_cursor {
            let counter = self.known.entry(base.field.place);
            counter.learn(&base.screen, screen, growth(base, end));
        }
    }

    /// Draws the numbers for an input that ends at column `end`.
    pub(super) fn draw(&self, base: &Base, end: u16, canvas: &mut Canvas<'_>) {
        let counter = self.known.find(&base.field.place);
        let is_known = |counter: &&Ruler| base.has_drawn_cursor && counter.is_known();
        if let Some(counter) = counter.filter(is_known) {
            counter.draw(canvas, growth(base, end));
        }
    }
}

/// Returns the move of the input's end to column `end`, as if the end were a cursor.
fn growth(base: &Base, end: u16) -> Step {
    let from = Position { row: base.field.row, column: base.field.bounds.end };
    Step { from, to: Position { column: end, ..from }, is_to_empty: false }
}

/// Returns the columns of the single characters in reverse video.
fn marks(cells: &[Cell]) -> impl Iterator<Item = u16> {
    let is_inverse = |cell: &Cell| cell.pen.attributes.contains(Attributes::INVERSE);
    let runs = cells.chunk_by(move |left, right| is_inverse(left) == is_inverse(right));
    let runs = runs.scan(0, |start, run| {
        let column = *start;
        *start += run.len();
        Some((column, run))
    });
    let is_single =
        move |run: &[Cell]| is_inverse(&run[0]) && run.len() == 1 + usize::from(run[0].wide);
    runs.filter(move |(_, run)| is_single(run)).filter_map(|(column, _)| u16::try_from(column).ok())
}

/// Sets or removes the reverse video of a character.
fn invert(screen: &mut Screen, at: Position, is_inverse: bool) {
    let is_wide = cell(screen, at).wide;
    let columns = at.column..=at.column + u16::from(is_wide);
    for at in columns.map(|column| Position { column, ..at }) {
        let Some(mut glyph) = screen.glyph(at) else { continue };
        if is_inverse && !is_wide {
            // An erased cell cannot show reverse video.
            glyph.cell.base.get_or_insert(' ');
        }
        let attributes = &mut glyph.cell.pen.attributes;
        *attributes = if is_inverse {
            attributes.with(Attributes::INVERSE)
        } else {
            attributes.without(Attributes::INVERSE)
        };
        screen.put(at, &glyph);
    }
}
