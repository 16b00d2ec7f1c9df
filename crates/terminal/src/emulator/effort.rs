//! Counts the work that a terminal has done. The unit is the work of handling one cell, about a nanosecond.
//!
//! A caller that performs untrusted bytes uses this count to limit their processor time. The count is an estimate,
//! mostly too high.

use crate::screen::row::Row;

/// Cost of reading a byte, in cells (1 ns each). Chosen: the shortest sequences take 6 to 12 ns per byte, a title 18.
const BYTE: u64 = 16;

/// Fixed cost, in cells, of an operation on a row, in addition to the cost of each cell. Chosen: as measured, with the
/// search for marks and decorations.
const OPERATION: u64 = 16;

/// Cost in cells of moving or replacing a whole row, for which only its address and reference count change.
const ROW: u64 = 4;

/// Cost in cells of moving an entry of a row's list: a cell's marks, or a run of decorated cells. When an earlier entry
/// is added or removed, all later entries move at once. Chosen: as measured, 1 ns.
const BEHIND: u64 = 1;

/// Cost in cells of moving or copying the marks of one cell. Chosen: marks take 40 bytes, and a cell takes 16.
const MARK: u64 = 4;

/// Cost in cells of moving a run of decorated cells. The link of the run stays where it is in memory.
const RUN: u64 = 2;

/// Cost in cells of copying or dropping a run of decorated cells, whose link is elsewhere in memory. Chosen: as
/// measured with 100,000 different links.
const LINK: u64 = 64;

/// The work that a terminal has done so far, in cells of about a nanosecond each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Effort(u64);

impl Effort {
    pub(crate) const fn cells(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) fn read(&mut self, bytes: usize) {
        self.spend(bytes, BYTE);
    }

    #[inline]
    pub(crate) fn move_rows(&mut self, rows: usize) {
        self.spend(rows, ROW);
    }

    /// Counts an operation on `cells` cells of one row: writing, moving or reading them.
    #[inline]
    pub(crate) fn touch(&mut self, cells: usize) {
        self.spend(1, OPERATION);
        self.spend(cells, 1);
    }

    /// Counts the work of moving the marks and decorations of `row` one by one, `times` times.
    #[inline]
    pub(crate) fn move_beside(&mut self, row: &Row, times: usize) {
        self.spend(times * row.marks.len(), MARK);
        self.spend(times * row.decorations.len(), RUN);
    }

    /// Counts the work of searching the marks and decorations of `row` from `column` on, and of moving them together.
    #[inline]
    pub(crate) fn move_behind(&mut self, row: &Row, column: u16) {
        // Nearly all rows have neither marks nor decorations. For these rows, the search is skipped.
        if row.marks.len() + row.decorations.len() > 0 {
            self.spend(1, OPERATION);
            self.move_at_once(row.marks.len_from(column) + row.decorations.len_from(column));
        }
    }

    /// Counts the work of moving the marks of `cells` cells together.
    #[inline]
    pub(crate) fn move_at_once(&mut self, cells: usize) {
        self.spend(cells, BEHIND);
    }

    /// Counts the work of replacing another row by a copy of `row`.
    #[inline]
    pub(crate) fn copy_row(&mut self, row: &Row) {
        self.touch(row.cells.len());
        self.copy_beside(row);
    }

    /// Counts the work of copying the marks and decorations of `row`.
    #[inline]
    pub(crate) fn copy_beside(&mut self, row: &Row) {
        self.spend(row.marks.len(), MARK);
        self.spend(row.decorations.len(), LINK);
    }

    /// Adds `count` operations that cost `each` cells. The sum, in nanoseconds, lasts for centuries before it wraps.
    #[inline]
    fn spend(&mut self, count: usize, each: u64) {
        self.0 = self.0.wrapping_add((count as u64).wrapping_mul(each));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Size;
    use crate::terminal::Terminal;

    /// Returns the effort of `bytes` in a replica of 500 columns and 200 rows after it has read `before`.
    fn spent(before: &str, bytes: &str) -> u64 {
        let mut terminal = Terminal::replica(Size::clamped(500, 200));
        terminal.write(before.as_bytes());
        let effort = terminal.effort();
        terminal.write(bytes.as_bytes());
        terminal.effort() - effort
    }

    #[test]
    fn functions_on_all_cells_cost_as_much_as_the_cells() {
        let full = "x".repeat(500 * 200);
        let sides = format!("{full}\x1b[?69h\x1b[2;499s\x1b[H");
        for (before, bytes) in [
            (&full, "\x1b[ A"),
            (&full, "\x1b[ @"),
            (&full, "\x1b[H\x1b['}"),
            (&full, "\x1b[65$x"),
            (&full, "\x1b[1;1;200;500;1;1;2$v"),
            (&sides, "\x1b[S"),
            (&sides, "\x1b[T"),
        ] {
            let effort = spent(before, bytes);
            assert!((95_000..400_000).contains(&effort), "{bytes:?} costs {effort}");
        }
    }

    #[test]
    fn functions_on_a_row_cost_as_much_as_its_cells() {
        let full = "x".repeat(500 * 200);
        for bytes in
            ["\x1b[2K", "\x1b[H\x1b[@", "\x1b[H\x1b[P", "\n", "\x1b[3g\r\t", "\x1b[3g\x1b[Z"]
        {
            let effort = spent(&full, bytes);
            assert!((490..5_000).contains(&effort), "{bytes:?} costs {effort}");
        }
    }

    #[test]
    fn marks_and_links_count() {
        let marks = "e\u{301}".repeat(500);
        let links: String = (0..500).map(|n| format!("\x1b]8;;ftp:{n}\x07x")).collect();
        for (before, bytes, least) in [
            (&marks, "\x1b[H\x1b[@", 500 * MARK),
            (&marks, "\x1b[H\u{e9}\u{301}", 500 * BEHIND),
            (&marks, "\x1b[1;1;1;500;1;2;1$v", 500 * MARK),
            // A row of this screen has room for some 320 links.
            (&links, "\x1b[H\x1b[@", 300 * RUN),
            (&links, "\x1b[1;1;1;500;1;2;1$v", 300 * LINK),
        ] {
            let effort = spent(before, bytes);
            assert!(effort >= least, "{bytes:?} costs {effort}");
        }
    }

    #[test]
    fn rows_that_enter_the_scrollback_count() {
        let screenful = 500 * 200;
        for (before, bytes, least) in [
            ("", "\x1b[41m\x1b[2J\x1b[999S", screenful),
            ("", "\x1b[41m\x1b[2J\x1b[200H\n", 2 * 500),
            (&*"e\u{301}".repeat(500), "\x1b[S", 500 * MARK),
        ] {
            let mut terminal = Terminal::host(Size::clamped(500, 200));
            terminal.keep_scrollback();
            terminal.write(before.as_bytes());
            let effort = terminal.effort();
            terminal.write(bytes.as_bytes());
            let effort = terminal.effort() - effort;
            assert!(effort >= least, "{bytes:?} costs {effort}");
        }
    }

    #[test]
    fn every_byte_counts() {
        for bytes in ["\x1b[m", "\r", "\x1b]0;t\x07", "\x1b_ignored", "\u{80}"] {
            assert!(spent("", bytes) >= BYTE * u64::try_from(bytes.len()).unwrap(), "{bytes:?}");
        }
    }
}
