//! A row of cells. Snapshots share the row until something writes to it.

use std::ops::Range;

use crate::screen::cell::{Cell, Pen};
use crate::screen::cells::Cells;
use crate::screen::decoration::{Decoration, Decorations};
use crate::screen::glyph::Glyph;
use crate::screen::marks::Marks;
use crate::width::char_width;

/// The result of writing a text into a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written {
    /// The number of bytes written.
    pub(crate) bytes: usize,
    /// The last written character that is not a combining character, and so has its own cell.
    pub(crate) last: char,
    /// The column of the cell of `last`.
    pub(crate) column: u16,
    /// The columns that `last` occupies: 1 or 2.
    pub(crate) columns: u16,
    /// The number of pieces of the text, for the effort. A cell with combining characters ends each piece.
    pub(crate) pieces: usize,
}

/// A row of the screen: its cells, combining characters and decorations, and whether its text wraps into the next row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub(crate) cells: Cells,
    /// Combining characters of the cells with [`Cell::combined`].
    pub(crate) marks: Marks,
    pub(crate) decorations: Decorations,
    pub(crate) wrapped: bool,
}

impl Row {
    /// Creates a row of cells that were erased with `pen`.
    pub fn erased(columns: u16, pen: Pen) -> Self {
        Self {
            cells: Cells::erased(columns, pen),
            marks: Marks::default(),
            decorations: Decorations::default(),
            wrapped: false,
        }
    }

    /// Returns the cells of the row, left to right.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Returns the combining characters of the cell in `column`, or an empty text.
    pub fn marks(&self, column: u16) -> &str {
        self.marks.at(column)
    }

    /// Returns the decoration of the cell in `column`.
    pub fn decoration(&self, column: u16) -> &Decoration {
        self.decorations.at(column)
    }

    /// Returns the cell in `column` with its combining characters and decoration.
    pub(crate) fn glyph(&self, column: u16) -> Glyph {
        Glyph {
            cell: self.cells[usize::from(column)],
            marks: self.marks(column).into(),
            decoration: self.decoration(column).clone(),
        }
    }

    /// Returns whether the text of the row continues in the next row without a line break.
    pub const fn wrapped(&self) -> bool {
        self.wrapped
    }

    /// Returns the width of the row in columns.
    pub(crate) fn columns(&self) -> u16 {
        u16::try_from(self.cells.len()).expect("a row has at most 4096 columns")
    }

    /// Returns the column of the last cell, or of the left half if a wide character ends there.
    pub(crate) fn last_glyph(&self) -> u16 {
        let last = self.columns() - 1;
        let index = usize::from(last);
        let wide = last > 0 && self.cells[index - 1].wide && self.cells[index].is_blank();
        last - u16::from(wide)
    }

    /// Returns the approximate memory of the row in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.cells)
            + self.marks.bytes()
            + self.decorations.bytes()
    }

    /// Makes the row equal to `blank`, an erased row of the same width, without allocating memory.
    pub(crate) fn copy_blank(&mut self, blank: &Self) {
        self.cells.copy_blank(&blank.cells);
        // Nearly all rows have nothing to clear, and the test is cheaper than clearing.
        self.marks.clear(0..u16::MAX);
        if !self.decorations.is_empty() {
            self.decorations = Decorations::default();
        }
        self.wrapped = false;
    }

    /// Writes printable ASCII at `column`, where all of it must fit.
    pub(crate) fn write_ascii(&mut self, column: u16, text: &[u8], pen: Pen) {
        let range = usize::from(column)..usize::from(column) + text.len();
        self.before_write(range.clone());
        for (cell, &byte) in self.cells.for_writing(range).iter_mut().zip(text) {
            *cell = Cell { base: Some(char::from(byte)), pen, wide: false, combined: false };
        }
    }

    /// Writes a character at `column`. A wide character also gets an empty right half, if there is room.
    pub(crate) fn write(&mut self, column: u16, c: char, wide: bool, pen: Pen) {
        let column = usize::from(column);
        let end = (column + 1 + usize::from(wide)).min(self.cells.len());
        self.before_write(column..end);
        let cells = self.cells.for_writing(column..end);
        cells.fill(Cell::erased(pen));
        cells[0] = Cell { base: Some(c), pen, wide, combined: false };
    }

    /// Writes a narrow character to each cell of `range`.
    pub(crate) fn fill(&mut self, range: Range<u16>, c: char, pen: Pen) {
        let range = usize::from(range.start)..usize::from(range.end);
        self.before_write(range.clone());
        let cell = Cell { base: Some(c), pen, wide: false, combined: false };
        self.cells.for_writing(range).fill(cell);
    }

    /// Writes as much of `text` at `column` as fits. Combining characters join the cell on their left, so the text must
    /// not begin with one. `None` if nothing was written.
    pub(crate) fn write_text(&mut self, column: u16, text: &str, pen: Pen) -> Option<Written> {
        let (mut written, mut bytes, mut end, mut pieces) = (None, 0, usize::from(column), 0);
        if self.marks.len() > 0 {
            // All cells are prepared together, so that the marks after them move only once.
            self.before_write(end..self.reach(end, text));
        }
        while bytes < text.len() {
            let (fitting, next) = self.cells.write_text(end, &text[bytes..], pen);
            let Some(last) = text[bytes..bytes + fitting].chars().next_back() else { break };
            self.before_write(end..next);
            (bytes, end) = (bytes + fitting, next);
            let columns = char_width(last);
            let column = u16::try_from(end).expect("a row has at most 4096 columns") - columns;
            for mark in text[bytes..].chars().take_while(|c| char_width(*c) == 0) {
                self.combine(column, mark);
                bytes += mark.len_utf8();
            }
            pieces += 1;
            written = Some(Written { bytes, last, column, columns, pieces });
        }
        written
    }

    /// Returns the column at which `text`, written at `column`, ends or no longer fits.
    fn reach(&self, column: usize, text: &str) -> usize {
        let mut end = column;
        for c in text.chars() {
            let next = end + usize::from(char_width(c));
            if next > self.cells.len() {
                break;
            }
            end = next;
        }
        end
    }

    /// Returns whether the cells of `range` are known to be erased with `pen`. Always false for a row that wraps.
    pub(crate) fn is_erased(&self, range: Range<u16>, pen: Pen) -> bool {
        let range = usize::from(range.start)..usize::from(range.end);
        !self.wrapped && self.cells.is_erased(range, pen)
    }

    /// Erases the cells of `range` with the background of `pen`.
    pub(crate) fn erase(&mut self, range: Range<u16>, pen: Pen) {
        let range = usize::from(range.start)..usize::from(range.end);
        self.before_write(range.clone());
        self.cells.erase(range, pen);
    }

    /// Inserts `count` empty cells at `column`, and ends the wrap. Later cells move right, and the last ones are lost.
    pub(crate) fn insert(&mut self, column: u16, count: u16, pen: Pen) {
        let columns = self.columns();
        let count = count.min(columns - column);
        self.cells.insert(usize::from(column), usize::from(count), pen);
        self.marks.shift(column, |mark| mark.checked_add(count).filter(|&mark| mark < columns));
        if !self.decorations.is_empty() {
            self.decorations.insert(column, count, columns);
        }
        self.wrapped = false;
    }

    /// Deletes `count` cells at `column`. The cells after them move left, and empty cells fill the end.
    pub(crate) fn delete(&mut self, column: u16, count: u16, pen: Pen) {
        let columns = self.columns();
        let count = count.min(columns - column);
        self.cells.delete(usize::from(column), usize::from(count), pen);
        self.marks.shift(column, |mark| mark.checked_sub(count).filter(|&mark| mark >= column));
        if !self.decorations.is_empty() {
            self.decorations.delete(column, count);
        }
        self.before_write(usize::from(columns - count)..usize::from(columns));
    }

    /// Copies `columns` of row `from` to this row's columns from `to` on. Blanks wide characters that are cut, and
    /// omits a link that does not fit.
    pub(crate) fn copy_columns(
        &mut self,
        from: &Self,
        columns: Range<u16>,
        to: u16,
        link_bytes_max: usize,
    ) {
        let place = |range: &Range<u16>| usize::from(range.start)..usize::from(range.end);
        let target = to..to + (columns.end - columns.start);
        self.split_wide(to);
        self.before_write(place(&target));
        self.cells.for_writing(place(&target)).copy_from_slice(&from.cells[place(&columns)]);
        self.marks.copy(&from.marks, columns.clone(), to);
        if !from.decorations.is_empty() {
            self.decorations.copy(&from.decorations, columns, to, link_bytes_max);
        }
        self.split_wide(target.end);
    }

    /// Adds a combining character to the cell in `column`, which may be empty.
    pub(crate) fn combine(&mut self, column: u16, mark: char) {
        let cell = self.cells[usize::from(column)];
        if self.marks.push(column, cell.base.map_or(0, char::len_utf8), mark) {
            let at = usize::from(column);
            self.cells.for_writing(at..at + 1)[0].combined = true;
        }
    }

    /// Makes the character in `column` wide or narrow. If it becomes wide, erases the next cell.
    pub(crate) fn set_wide(&mut self, column: u16, wide: bool) {
        let (at, pen) = (usize::from(column), self.cells[usize::from(column)].pen);
        if wide {
            // If this cuts a wide character, blanks its other half.
            self.split_wide(column + 2);
            self.erase(column + 1..column + 2, pen);
        }
        self.cells.for_writing(at..at + 2)[0].wide = wide;
    }

    /// Blanks the wide character whose right half is in `column`, because the cell in `column` is about to change.
    pub(crate) fn split_wide(&mut self, column: u16) {
        if let Some(left) = column.checked_sub(1)
            && let Some(cell) = self.cells.get(usize::from(left))
            && cell.wide
        {
            let pen = cell.pen;
            self.erase(left..column, pen);
        }
    }

    /// Replaces the glyph in `column`. Call [`Row::mend`] afterwards, because this may cut a wide character in half.
    pub(crate) fn put(&mut self, column: u16, glyph: &Glyph, link_bytes_max: usize) {
        debug_assert_eq!(glyph.cell.combined, !glyph.marks.is_empty());
        self.cells[usize::from(column)] = glyph.cell;
        self.marks.clear(column..column + 1);
        for mark in glyph.marks.chars() {
            // The marks had room in their old cell, so they have room here.
            self.marks.push(column, 0, mark);
        }
        self.decorations.set(column..column + 1, &glyph.decoration, link_bytes_max);
    }

    /// Blanks every wide character whose right half is missing.
    pub(crate) fn mend(&mut self) {
        for column in 0..self.columns() {
            let index = usize::from(column);
            let has_half = self.cells.get(index + 1).is_some_and(Cell::is_blank);
            let cell = self.cells[index];
            if cell.wide && !has_half {
                self.erase(column..column + 1, cell.pen);
            }
        }
    }

    /// Blanks a wide character that has only its left half, in the last column.
    pub(crate) fn trim_wide(&mut self) {
        self.split_wide(self.columns());
    }

    /// Returns the row with another width, without wrap flag. Cuts cells or adds cells erased with `pen` at the right.
    pub(crate) fn resized(&self, columns: u16, pen: Pen) -> Self {
        let mut row = Self::erased(columns, pen);
        let kept = columns.min(self.columns());
        let cells = usize::from(kept);
        row.cells.for_writing(0..cells).copy_from_slice(&self.cells[..cells]);
        row.marks.copy(&self.marks, 0..kept, 0);
        row.decorations = self.decorations.clone();
        row.decorations.clear(kept..self.columns().max(kept));
        row.trim_wide();
        row
    }

    /// Returns the row without the blank cells at its end, if these have the default pen.
    pub(crate) fn trimmed(&self) -> Self {
        let cells = self.cells.trimmed();
        let end = u16::try_from(cells.len()).expect("a row has at most 4096 columns");
        let mut decorations = self.decorations.clone();
        if !decorations.is_empty() {
            decorations.clear(end..self.columns());
        }
        Self { cells, marks: self.marks.clone(), decorations, wrapped: self.wrapped }
    }

    /// Panics if a wide character lacks a half, if marks have no cell, or if a cell known as blank is not blank.
    pub(crate) fn assert_integrity(&self) {
        self.cells.assert_integrity();
        let blank_from = self.cells.blank_from();
        for (column, cell) in self.cells.iter().enumerate() {
            if cell.wide {
                assert!(column + 1 < blank_from, "a wide cell is not in the last column");
                let right = self.cells[column + 1];
                assert!(right.base.is_none() && !right.combined, "a wide cell has its right half");
            }
        }
        let combined = self.cells.iter().filter(|cell| cell.combined).count();
        assert_eq!(combined, self.marks.len(), "each combined cell has its marks");
        assert!(self.marks.columns().all(|at| self.cells[usize::from(at)].combined));
        let end = u16::try_from(blank_from).expect("a row has at most 4096 columns");
        self.decorations.assert_integrity(end);
    }

    /// Removes the marks and decorations of cells that will be replaced. Replacing the last cell also ends the wrap.
    fn before_write(&mut self, range: Range<usize>) {
        if range.end == self.cells.len() && !range.is_empty() {
            self.wrapped = false;
        }
        let column = |at: usize| u16::try_from(at).expect("a row has at most 4096 columns");
        let range = column(range.start)..column(range.end);
        if !self.decorations.is_empty() {
            self.decorations.clear(range.clone());
        }
        self.marks.clear(range);
    }
}
