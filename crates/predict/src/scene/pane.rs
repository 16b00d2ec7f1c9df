//! Finds the part of the screen in which the cursor's program draws, by lines and bars that divide the screen.

use core::ops::Range;

use rove_terminal::{Cell, Position, Screen};

use super::row::{Background, cell, cells, character, to_column};

/// Fewest rows of a vertical line. Chosen: two rows with `|` may be the same pipeline twice.
const LINE_ROWS_MIN: u16 = 3;

/// Fewest columns of a horizontal line. Chosen: shorter lines occur as dashes in text.
const LINE_COLUMNS_MIN: usize = 3;

/// A rectangle of the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pane {
    pub(crate) left: u16,
    /// The column after the pane's last.
    pub(crate) right: u16,
    pub(crate) top: u16,
    /// The row below the pane's last.
    pub(crate) bottom: u16,
}

/// Returns the rectangle that lines and bars enclose around a position: a pane, an editor's window, or a box.
///
/// A column is a bound if vertical lines fill three or more of its rows, with the position's row. They must end at the
/// screen's edge, a corner or a bar. A row is a bound if, between the left and right bounds, it is a horizontal line,
/// perhaps with a title. A bar is a bound, too: a single background that is neither the default nor the position's.
pub(crate) fn pane(screen: &Screen, at: Position) -> Pane {
    let size = screen.size();
    let whole = Pane { left: 0, right: size.columns(), top: 0, bottom: size.rows() };
    if at.row >= size.rows() || at.column >= size.columns() {
        return whole;
    }
    let row = cells(screen, at.row);
    // This cheap test of the position's row rules out nearly all columns.
    let is_bound = |column: &u16| {
        is_vertical(character(&row[usize::from(*column)]))
            && is_vertical_line(screen, Position { column: *column, ..at })
    };
    let left = (0..at.column).rev().find(is_bound).map_or(0, |line| line + 1);
    let right = (at.column + 1..size.columns()).find(is_bound).unwrap_or(size.columns());
    let columns = usize::from(left)..usize::from(right);
    let background = Background::of(&row[usize::from(at.column)]);
    let is_bound = |row: &u16| {
        let part = &cells(screen, *row)[columns.clone()];
        is_horizontal_line(part) || is_bar(part, background)
    };
    let top = (0..at.row).rev().find(is_bound).map_or(0, |line| line + 1);
    let bottom = (at.row + 1..size.rows()).find(is_bound).unwrap_or(size.rows());
    Pane { left, right, top, bottom }
}

/// Returns whether a character (`|` or box drawing) draws a line to the upper or the lower edge of its cell.
pub(super) fn is_vertical(c: char) -> bool {
    // This Unicode block has heavy, light, double and broken lines, corners and branches. The excluded characters have
    // only lines to the left or right, or diagonals.
    c == '|' || matches!(c, '\u{2500}'..='\u{257f}') && !is_only_horizontal(c)
}

fn is_only_horizontal(c: char) -> bool {
    matches!(
        c,
        '\u{2500}'
            | '\u{2501}'
            | '\u{2504}'
            | '\u{2505}'
            | '\u{2508}'
            | '\u{2509}'
            | '\u{254c}'
            | '\u{254d}'
            | '\u{2550}'
            | '\u{2571}'
            ..='\u{2574}' | '\u{2576}' | '\u{2578}' | '\u{257a}' | '\u{257c}' | '\u{257e}'
    )
}

/// Returns whether a character draws a line to the left or right edge of its cell.
fn is_horizontal(c: char) -> bool {
    // The excluded characters have only lines up or down, or diagonals.
    let is_only_vertical = matches!(
        c,
        '\u{2502}'
            | '\u{2503}'
            | '\u{2506}'
            | '\u{2507}'
            | '\u{250a}'
            | '\u{250b}'
            | '\u{254e}'
            | '\u{254f}'
            | '\u{2551}'
            | '\u{2571}'
            ..='\u{2573}'
                | '\u{2575}'
                | '\u{2577}'
                | '\u{2579}'
                | '\u{257b}'
                | '\u{257d}'
                | '\u{257f}'
    );
    matches!(c, '\u{2500}'..='\u{257f}') && !is_only_vertical
}

/// Returns whether the vertical line through a position is long enough, and ends at the screen's edge, a corner or a
/// bar. Lines of tables in text begin and end anywhere.
fn is_vertical_line(screen: &Screen, at: Position) -> bool {
    let rows = screen.size().rows();
    let is_line =
        |row: &u16| cell(screen, *row, at.column).is_some_and(|cell| is_vertical(character(cell)));
    let top = (0..at.row).rev().take_while(is_line).last().unwrap_or(at.row);
    let bottom = (at.row + 1..rows).take_while(is_line).last().unwrap_or(at.row);
    let ends_well = |end: u16, beyond: Option<u16>| {
        let beyond = beyond.filter(|row| *row < rows);
        let Some(beyond) = beyond.and_then(|row| cell(screen, row, at.column)) else { return true };
        let is_corner = |c| is_horizontal(c) || matches!(c, '+' | '-');
        let is_joined = cell(screen, end, at.column).is_some_and(|end| is_corner(character(end)));
        is_joined || is_corner(character(beyond)) || !Background::of(beyond).is_default()
    };
    let least = LINE_ROWS_MIN.min(rows);
    bottom - top + 1 >= least
        && ends_well(top, top.checked_sub(1))
        && ends_well(bottom, bottom.checked_add(1))
}

/// Returns whether these cells are a horizontal line: both ends and at least half of all. The others may be a title.
fn is_horizontal_line(part: &[Cell]) -> bool {
    let is_line = |cell: &&Cell| is_horizontal(character(cell));
    // The first and the last cell rule out nearly all rows.
    let ends = [part.first(), part.last()].into_iter().flatten();
    if part.len() < LINE_COLUMNS_MIN || !ends.into_iter().all(|cell| is_line(&cell)) {
        return false;
    }
    part.iter().filter(is_line).count() * 2 >= part.len()
}

/// Returns whether a row of a pane has a horizontal line from the pane's left edge to its right edge.
pub(super) fn is_line_row(screen: &Screen, row: u16, pane: &Pane) -> bool {
    let cells = cells(screen, row);
    is_horizontal_line(&cells[columns(pane, cells)])
}

/// Returns whether these cells form a bar: a single background, neither the default one nor `background`.
fn is_bar(part: &[Cell], background: Background) -> bool {
    let Some(first) = part.first().map(Background::of) else { return false };
    first != background
        && !first.is_default()
        && part.iter().all(|cell| Background::of(cell) == first)
}

/// Returns the columns of a pane as indices into `cells`, limited to the length of `cells`.
pub(super) fn columns(pane: &Pane, cells: &[Cell]) -> Range<usize> {
    let right = usize::from(pane.right).min(cells.len());
    usize::from(pane.left).min(right)..right
}

/// Returns whether a cell is part of a vertical line of a box, which continues above or below.
pub(super) fn is_edge(screen: &Screen, at: Position) -> bool {
    let lines_at = |row: Option<u16>, ascii: &[char]| {
        let cell = row.and_then(|row| cell(screen, row, at.column));
        cell.map(character).is_some_and(|c| ascii.contains(&c) || c != '|' && is_vertical(c))
    };
    let Some(here) = cell(screen, at.row, at.column).map(character) else { return false };
    let (above, below) = (at.row.checked_sub(1), at.row.checked_add(1));
    match here {
        // Users type this character too, so it must be on three rows. The outer two may have corners.
        '|' => lines_at(above, &['|', '+']) && lines_at(below, &['|', '+']),
        _ => is_vertical(here) && (lines_at(above, &[]) || lines_at(below, &[])),
    }
}

/// Returns the first of `columns` that has an edge of a box. `None` if there is none.
pub(super) fn next_edge(screen: &Screen, row: u16, mut columns: Range<usize>) -> Option<usize> {
    let cells = cells(screen, row);
    columns.find(|column| {
        let is_line = cells.get(*column).is_some_and(|cell| is_vertical(character(cell)));
        is_line && is_edge(screen, Position { row, column: to_column(*column) })
    })
}
