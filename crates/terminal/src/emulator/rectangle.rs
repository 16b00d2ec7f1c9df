//! Functions on rectangles of the screen: DECCRA, DECFRA, DECERA, DECSERA.

use std::ops::Range;
use std::sync::Arc;

use crate::emulator::grid::Grid;
use crate::emulator::protection::Erasing;
use crate::parse::parameters::Parameters;
use crate::screen::row::Row;

/// A rectangle of the screen: its rows and its columns, from 0.
pub(crate) type Rectangle = (Range<u16>, Range<u16>);

/// Copies a rectangle to another place (DECCRA). Ignores page numbers, because there is only one page.
pub(crate) fn copy(grid: &mut Grid, parameters: &Parameters) {
    let Some((rows, columns)) = rectangle(grid, parameters, 0) else { return };
    // The parameters state the target's upper left corner. The target extends to the margins or edges.
    let corner = [parameters.value(5), parameters.value(6), 0, 0];
    let Some((to_rows, to_columns)) = rectangle_of(grid, corner) else { return };
    let height = rows.len().min(to_rows.len());
    let width = u16::try_from(columns.len().min(to_columns.len())).expect("4096 at most");
    let columns = columns.start..columns.start + width;
    let source = usize::from(rows.start)..usize::from(rows.start) + height;
    let source: Vec<Arc<Row>> = grid.screen.rows[source].to_vec();
    for (row, from) in to_rows.zip(&source) {
        grid.copy_cells(from, columns.clone(), row, to_columns.start);
    }
}

/// Fills a rectangle with a Latin-1 character, given by its number (DECFRA). Ignores other numbers.
pub(crate) fn fill(grid: &mut Grid, parameters: &Parameters) {
    let c = match parameters.value(0) {
        number @ (0x20..=0x7e | 0xa0..=0xff) => char::from(number.to_le_bytes()[0]),
        _ => return,
    };
    let Some((rows, columns)) = rectangle(grid, parameters, 1) else { return };
    let pen = grid.screen.pen;
    for row in rows {
        grid.effort.touch(columns.len());
        grid.effort.copy_beside(&grid.screen.rows[usize::from(row)]);
        grid.row_mut_at(row, columns.start).fill(columns.clone(), c, pen);
        if !grid.screen.decoration.is_none() {
            grid.decorate(row, columns.clone());
        }
    }
}

/// Erases a rectangle (DECERA).
pub(crate) fn erase(grid: &mut Grid, parameters: &Parameters) {
    let Some((rows, columns)) = rectangle(grid, parameters, 0) else { return };
    for row in rows {
        grid.erase_in_row(row, columns.clone());
    }
}

/// Erases the cells of a rectangle that DECSCA has not protected (DECSERA).
pub(crate) fn erase_selectively(grid: &mut Grid, parameters: &Parameters) {
    let Some((rows, columns)) = rectangle(grid, parameters, 0) else { return };
    for row in rows {
        grid.erase_sparing(row, columns.clone(), Erasing::SelectiveRectangle);
    }
}

/// Returns the rectangle that the four parameters from `index` on describe. `None` for an empty rectangle.
pub(crate) fn rectangle(grid: &Grid, parameters: &Parameters, index: usize) -> Option<Rectangle> {
    rectangle_of(grid, [0, 1, 2, 3].map(|number| parameters.value(index + number)))
}

/// Returns the rectangle with these bounds, which count from 1. `None` for an empty rectangle. In origin mode the
/// bounds count from the margins, and the rectangle ends at the margins. The value 0 stands for the edge or margin.
fn rectangle_of(grid: &Grid, [top, left, bottom, right]: [u16; 4]) -> Option<Rectangle> {
    let (mut rows, mut columns) = (0..grid.screen.size.rows(), 0..grid.columns());
    if grid.modes.origin {
        rows = grid.region.top..grid.region.bottom + 1;
        columns = grid.region.columns();
    }
    let range = |first: u16, last: u16, limit: Range<u16>| {
        let start = limit.start.saturating_add(first.max(1) - 1);
        let end =
            if last == 0 { limit.end } else { limit.start.saturating_add(last).min(limit.end) };
        Some(start..end).filter(|range| !range.is_empty())
    };
    Some((range(top, bottom, rows)?, range(left, right, columns)?))
}
