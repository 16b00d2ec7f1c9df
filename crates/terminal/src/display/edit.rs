//! Edits that make a displayed row similar to the wanted row: erasing cells, inserting cells or deleting cells.

use super::brush::Brush;
use super::line::{Drawn, Line};
use crate::screen::cell::{Cell, Pen};
use crate::screen::row::Row;

/// Shortest drawing of a row, in bytes, after which an edit is tried too. Chosen: about the bytes of an edit itself.
const RETRY_MIN: usize = 12;

/// Most columns by which a diff shifts text in a row. Chosen: a typed word. Longer texts are rarely inserted at once.
const SHIFT_MAX: usize = 8;

/// Draws a row in the shortest of several ways: cell by cell, or after an edit. Never edits on a real terminal, because
/// edits flicker there and may treat wide characters differently.
pub(super) fn draw_row(brush: &mut Brush, row: u16, was: &Row, now: &Row) -> Drawn {
    let start = brush.checkpoint();
    let mut best = Line::new(brush, row, was, now).draw();
    if !brush.dialect.replica || brush.since(&start) < RETRY_MIN {
        return best;
    }
    let first = first_difference(was, now);
    let edits = [(best.erasures >= 2).then_some(Edit::Erase), shift(was, now, first)];
    for edit in edits.into_iter().flatten() {
        let end = brush.checkpoint();
        let bytes = brush.rewind(&start);
        let edited = edit.apply(was, first);
        brush.go(row, column(first));
        match edit {
            Edit::Erase => brush.erase_line(Pen::default()),
            Edit::Insert(count) => brush.insert_characters(column(count)),
            Edit::Delete(count) => brush.delete_characters(column(count)),
        }
        let drawn = Line::new(brush, row, &edited, now).draw();
        if brush.since(&start) < bytes.len() {
            best = drawn;
        } else {
            brush.rewind(&start);
            brush.replay(&bytes, end);
        }
    }
    best
}

/// An edit that makes a displayed row more similar to the wanted row. It begins at the first column that differs.
#[derive(Clone, Copy, Debug)]
enum Edit {
    /// Erases the rest of the row (EL).
    Erase,
    /// Inserts this number of empty cells (ICH).
    Insert(usize),
    /// Deletes this number of cells (DCH).
    Delete(usize),
}

impl Edit {
    /// Returns the row `was` after this edit at column `first`.
    fn apply(self, was: &Row, first: usize) -> Row {
        let mut row = was.clone();
        let columns = row.cells.len();
        row.wrapped = false;
        match self {
            Self::Erase => {
                row.cells[first..].fill(Cell::default());
                row.marks.clear(column(first)..row.columns());
                row.decorations.clear(column(first)..row.columns());
            }
            Self::Insert(count) => {
                row.cells.copy_within(first..columns - count, first + count);
                row.cells[first..first + count].fill(Cell::default());
            }
            Self::Delete(count) => {
                row.cells.copy_within(first + count.., first);
                row.cells[columns - count..].fill(Cell::default());
            }
        }
        row
    }
}

/// Returns the insertion or deletion that moves most text of `was` into place. `None` up to [`RETRY_MIN`] characters.
///
/// A row with a wrap flag is not shifted, because stock replicas move the flag with the cells. Rows with decorations,
/// or with marks from column `first` on, are not shifted either.
fn shift(was: &Row, now: &Row, first: usize) -> Option<Edit> {
    if was.wrapped || was.marks.reach(column(first)) || !was.decorations.is_empty() {
        return None;
    }
    let columns = was.cells.len();
    let ink = |a: &[Cell], b: &[Cell]| {
        let same = a.iter().zip(b).take_while(|(a, b)| a == b);
        same.filter(|(a, _)| a.base.is_some()).count()
    };
    let mut best = (RETRY_MIN, None);
    for count in 1..=SHIFT_MAX.min(columns - first - 1) {
        // An edit must not cut a wide character in half.
        let insert = Some(Edit::Insert(count)).filter(|_| !was.cells[columns - count - 1].wide);
        let delete = Some(Edit::Delete(count)).filter(|_| !was.cells[first + count - 1].wide);
        for (edit, ink) in [
            (insert, ink(&now.cells[first + count..], &was.cells[first..])),
            (delete, ink(&now.cells[first..], &was.cells[first + count..])),
        ] {
            if edit.is_some() && ink > best.0 {
                best = (ink, edit);
            }
        }
    }
    best.1
}

/// Returns the first column in which the rows differ, or the column before it if that begins a wide character.
fn first_difference(was: &Row, now: &Row) -> usize {
    let differs = |&at: &usize| {
        was.cells[at] != now.cells[at]
            || was.marks(column(at)) != now.marks(column(at))
            || was.decoration(column(at)) != now.decoration(column(at))
    };
    let first = (0..now.cells.len()).find(differs).unwrap_or(0);
    let half = first > 0 && (now.cells[first - 1].wide || was.cells[first - 1].wide);
    first - usize::from(half)
}

fn column(at: usize) -> u16 {
    u16::try_from(at).expect("a row has at most 4096 cells")
}
