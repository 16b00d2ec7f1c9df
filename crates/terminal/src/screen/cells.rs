//! The cells of a row, and the column from which all cells are known to be blank.
//!
//! Most lines are shorter than the screen is wide. Rows are often cleared: when they scroll in, and when programs erase
//! the rest of a line. A known blank part makes clearing cheap.

use std::ops::{Deref, DerefMut, Range};

use crate::screen::cell::{Cell, Pen};
use crate::width::char_width;

/// The cells of a row, left to right.
#[derive(Clone, Debug, Eq)]
pub(crate) struct Cells {
    all: Box<[Cell]>,
    /// All cells from this column on are empty and have the same pen.
    blank_from: usize,
}

impl Cells {
    /// Creates the cells of a row that was erased with `pen`.
    pub(crate) fn erased(columns: u16, pen: Pen) -> Self {
        let all = vec![Cell::erased(pen); usize::from(columns)].into_boxed_slice();
        Self { all, blank_from: 0 }
    }

    /// Returns the cells without the blank cells at the end, if these have the default pen.
    pub(crate) fn trimmed(&self) -> Self {
        let blank = Cell::default();
        let is_blank_behind = self.all.last() == Some(&blank);
        let known = if is_blank_behind { self.blank_from } else { self.all.len() };
        let trailing = self.all[..known].iter().rev().take_while(|cell| **cell == blank).count();
        let end = known - trailing;
        // The right half of a wide character is kept.
        let is_cut = end > 0 && self.all[end - 1].wide;
        let end = self.all.len().min(end + usize::from(is_cut));
        Self { all: self.all[..end].into(), blank_from: end }
    }

    /// Returns the cells of `range` for writing, and does not count them as known to be blank.
    pub(crate) fn for_writing(&mut self, range: Range<usize>) -> &mut [Cell] {
        self.blank_from = self.blank_from.max(range.end);
        &mut self.all[range]
    }

    /// Writes the start of `text` at `column`: as much as fits, up to the first combining character. Returns the number
    /// of bytes written, and the column after the text.
    pub(crate) fn write_text(&mut self, column: usize, text: &str, pen: Pen) -> (usize, usize) {
        let columns = self.all.len();
        let mut free = self.all[column..].iter_mut();
        let mut bytes = 0;
        for c in text.chars() {
            let wide = match char_width(c) {
                1 if free.len() > 0 => false,
                2 if free.len() > 1 => true,
                _ => break,
            };
            let mut put = |cell| *free.next().expect("there is room") = cell;
            put(Cell { base: Some(c), pen, wide, combined: false });
            if wide {
                put(Cell::erased(pen));
            }
            bytes += c.len_utf8();
        }
        let end = columns - free.len();
        self.blank_from = self.blank_from.max(end);
        (bytes, end)
    }

    /// Returns whether the cells of `range` are known to be erased with `pen`. False if this is unknown.
    pub(crate) fn is_erased(&self, range: Range<usize>, pen: Pen) -> bool {
        range.start >= self.blank_from && self.all.last() == Some(&Cell::erased(pen))
    }

    /// Erases the cells of `range` with the background of `pen`.
    pub(crate) fn erase(&mut self, range: Range<usize>, pen: Pen) {
        let columns = self.all.len();
        let blank = Cell::erased(pen);
        let blank_alike = self.blank_from < columns && self.all[columns - 1] == blank;
        if !blank_alike {
            self.all[range.clone()].fill(blank);
            let to_the_end = range.end == columns;
            self.blank_from = if to_the_end { range.start } else { self.blank_from.max(range.end) };
        } else if range.start < self.blank_from {
            self.all[range.start..range.end.min(self.blank_from)].fill(blank);
            if range.end >= self.blank_from {
                self.blank_from = range.start;
            }
        }
    }

    /// Makes these cells equal to `blank`, the cells of a blank row.
    pub(crate) fn copy_blank(&mut self, blank: &Self) {
        let columns = self.all.len();
        let blank_alike = self.blank_from < columns && self.all[columns - 1] == blank.all[0];
        let end = if blank_alike { self.blank_from } else { columns };
        self.all[..end].copy_from_slice(&blank.all[..end]);
        self.blank_from = 0;
    }

    /// Inserts `count` empty cells at `column`. The cells from `column` on move right, and the last cells are lost.
    pub(crate) fn insert(&mut self, column: usize, count: usize, pen: Pen) {
        let columns = self.all.len();
        debug_assert!(column + count <= columns && self.blank_from <= columns);
        self.all.copy_within(column..columns - count, column + count);
        self.all[column..column + count].fill(Cell::erased(pen));
        self.blank_from = columns.min(self.blank_from.max(column) + count);
    }

    /// Deletes `count` cells at `column`. The cells after them move left, and empty cells fill the end.
    pub(crate) fn delete(&mut self, column: usize, count: usize, pen: Pen) {
        let columns = self.all.len();
        debug_assert!(column + count <= columns && self.blank_from <= columns);
        self.all.copy_within(column + count.., column);
        self.erase(columns - count..columns, pen);
    }

    /// Returns the column from which all cells are known to be blank.
    pub(crate) const fn blank_from(&self) -> usize {
        self.blank_from
    }

    /// Panics if a cell from `blank_from` on is not blank.
    pub(crate) fn assert_integrity(&self) {
        let blank = &self.all[self.blank_from..];
        let alike = blank.first().map(|first| Cell::erased(first.pen));
        assert!(blank.iter().all(|cell| Some(*cell) == alike), "blank cells are blank alike");
    }
}

impl PartialEq for Cells {
    fn eq(&self, other: &Self) -> bool {
        self.all == other.all
    }
}

impl Deref for Cells {
    type Target = [Cell];

    fn deref(&self) -> &[Cell] {
        &self.all
    }
}

/// Writing through a plain slice may change any cell, so no cell is known to be blank after that.
impl DerefMut for Cells {
    fn deref_mut(&mut self) -> &mut [Cell] {
        self.blank_from = self.all.len();
        &mut self.all
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::screen::cell::Color;

    const COLUMNS: u16 = 9;

    #[derive(Clone, Debug)]
    enum Step {
        Write(usize, usize),
        Text(usize, &'static str),
        Erase(usize, usize),
        Insert(usize, usize),
        Delete(usize, usize),
        Clear,
        Anywhere(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        let columns = usize::from(COLUMNS);
        let range = (0..=columns, 0..=columns).prop_map(|(a, b)| (a.min(b), a.max(b)));
        prop_oneof![
            range.clone().prop_map(|(start, end)| Step::Write(start, end)),
            (0..=columns, prop::sample::select(vec!["a", "一二", "é一x", "a\u{301}b"]))
                .prop_map(|(column, text)| Step::Text(column, text)),
            range.clone().prop_map(|(start, end)| Step::Erase(start, end)),
            range.clone().prop_map(|(start, end)| Step::Insert(start, end - start)),
            range.prop_map(|(start, end)| Step::Delete(start, end - start)),
            Just(Step::Clear),
            (0..columns).prop_map(Step::Anywhere),
        ]
    }

    proptest! {
        /// Compares the cells with a plain slice, which does not track blank cells, after the same changes to both.
        #[test]
        fn knowing_what_is_blank_changes_nothing(
            steps in prop::collection::vec((step(), 0u8..2), 1..30)
        ) {
            let mut cells = Cells::erased(COLUMNS, Pen::default());
            let mut plain = cells.to_vec();
            for (step, color) in steps {
                let pen = Pen { background: Color::Indexed(color), ..Pen::default() };
                let (blank, x) = (Cell::erased(pen), Cell { base: Some('x'), ..Cell::default() });
                match step {
                    Step::Write(start, end) => {
                        cells.for_writing(start..end).fill(x);
                        plain[start..end].fill(x);
                    }
                    Step::Text(column, text) => {
                        let (_, end) = cells.write_text(column, text, pen);
                        plain[column..end].copy_from_slice(&cells[column..end]);
                    }
                    Step::Erase(start, end) => {
                        let erased = plain[start..end].iter().all(|cell| *cell == blank);
                        prop_assert!(erased || !cells.is_erased(start..end, pen));
                        cells.erase(start..end, pen);
                        plain[start..end].fill(blank);
                    }
                    Step::Insert(column, count) => {
                        cells.insert(column, count, pen);
                        plain.splice(column..column, vec![blank; count]);
                        plain.truncate(usize::from(COLUMNS));
                    }
                    Step::Delete(column, count) => {
                        cells.delete(column, count, pen);
                        plain.drain(column..column + count);
                        plain.resize(usize::from(COLUMNS), blank);
                    }
                    Step::Clear => {
                        cells.copy_blank(&Cells::erased(COLUMNS, pen));
                        plain.fill(blank);
                    }
                    Step::Anywhere(column) => {
                        cells[column] = x;
                        plain[column] = x;
                    }
                }
                cells.assert_integrity();
                prop_assert_eq!(&*cells, &*plain);
            }
        }
    }

    #[test]
    fn text_is_written_up_to_what_has_no_place() {
        for (column, text, written) in [
            (0, "abc", (3, 3)),
            (0, "a一é", (6, 4)),
            (7, "abc", (2, 9)),
            (7, "一二", (3, 9)),
            (8, "一", (0, 8)),
            (9, "a", (0, 9)),
            (0, "a\u{301}b", (1, 1)),
            (0, "\u{301}b", (0, 0)),
        ] {
            let mut cells = Cells::erased(COLUMNS, Pen::default());
            assert_eq!(
                cells.write_text(column, text, Pen::default()),
                written,
                "{text} at {column}"
            );
        }
    }
}
