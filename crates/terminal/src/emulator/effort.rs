//! The work that a terminal has done, counted in cells: about a nanosecond each.
//!
//! Whoever plays a stranger's bytes bounds by it how long they keep a processor busy. What it counts is an
//! estimate that runs high; `examples/effort.rs` shows it beside the time that each function takes.

use crate::screen::row::Row;

/// Cost of a byte that is read, whatever it means. Chosen: the shortest sequences take 6 to 12 ns a byte, a title 18.
const BYTE: u64 = 16;

/// Cost of an operation on a row besides its cells. Chosen: as measured, the search for what stands beside
/// them included.
const OPERATION: u64 = 16;

/// Cost of a row that is moved or replaced as a whole: its address and its count of references.
const ROW: u64 = 4;

/// Cost of the combining characters of a cell, or of a run of decorated cells, after a place where some are inserted or
/// removed: all are moved at once. Chosen: as measured, 1 ns.
const BEHIND: u64 = 1;

/// Cost of the combining characters of a cell that are moved one by one or copied. Chosen: 40 bytes of them, against 16
/// of a cell.
const MARK: u64 = 4;

/// Cost of a run of decorated cells that is moved.
const RUN: u64 = 2;

/// Cost of a run of decorated cells that is copied or dropped, with a link that lives somewhere else in memory.
/// Chosen: as measured with 100,000 different links.
const LINK: u64 = 64;

/// The work done so far, in cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Effort(u64);

impl Effort {
    /// Returns it in cells.
    pub(crate) const fn cells(self) -> u64 {
        self.0
    }

    /// Counts bytes that were read.
    #[inline]
    pub(crate) fn read(&mut self, bytes: usize) {
        self.spend(bytes, BYTE);
    }

    /// Counts rows that were moved or replaced as a whole.
    #[inline]
    pub(crate) fn move_rows(&mut self, rows: usize) {
        self.spend(rows, ROW);
    }

    /// Counts cells of one row that were written, moved or looked at.
    #[inline]
    pub(crate) fn touch(&mut self, cells: usize) {
        self.spend(1, OPERATION);
        self.spend(cells, 1);
    }

    /// Counts that what stands beside the cells of a row was moved so many times, piece by piece.
    #[inline]
    pub(crate) fn move_beside(&mut self, row: &Row, times: usize) {
        self.spend(times * row.marks.len(), MARK);
        self.spend(times * row.decorations.len(), RUN);
    }

    /// Counts that what stands beside the cells of a row from `column` on was moved at once, and searched.
    #[inline]
    pub(crate) fn move_behind(&mut self, row: &Row, column: u16) {
        // Nearly all rows have nothing there.
        if row.marks.len() + row.decorations.len() > 0 {
            self.spend(1, OPERATION);
            self.move_at_once(row.marks.len_from(column) + row.decorations.len_from(column));
        }
    }

    /// Counts that the combining characters of so many cells were moved at once.
    #[inline]
    pub(crate) fn move_at_once(&mut self, cells: usize) {
        self.spend(cells, BEHIND);
    }

    /// Counts that a row, all of it, was copied, and another one dropped for it.
    #[inline]
    pub(crate) fn copy_row(&mut self, row: &Row) {
        self.touch(row.cells.len());
        self.copy_beside(row);
    }

    /// Counts that what stands beside the cells of a row was copied.
    #[inline]
    pub(crate) fn copy_beside(&mut self, row: &Row) {
        self.spend(row.marks.len(), MARK);
        self.spend(row.decorations.len(), LINK);
    }

    /// Counts a number of things that cost so much each. 64 bits are nanoseconds for centuries.
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

    /// Returns what a replica of 500 columns and 200 rows that shows `before` spends on `bytes`.
    fn spent(before: &str, bytes: &str) -> u64 {
        let mut terminal = Terminal::replica(Size::clamped(500, 200));
        terminal.write(before.as_bytes());
        let effort = terminal.effort();
        terminal.write(bytes.as_bytes());
        terminal.effort() - effort
    }

    #[test]
    fn what_touches_all_cells_costs_as_much() {
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
    fn what_touches_a_row_costs_a_row() {
        let full = "x".repeat(500 * 200);
        for bytes in
            ["\x1b[2K", "\x1b[H\x1b[@", "\x1b[H\x1b[P", "\n", "\x1b[3g\r\t", "\x1b[3g\x1b[Z"]
        {
            let effort = spent(&full, bytes);
            assert!((490..5_000).contains(&effort), "{bytes:?} costs {effort}");
        }
    }

    #[test]
    fn what_stands_beside_the_cells_counts() {
        let marks = "e\u{301}".repeat(500);
        let links: String = (0..500).map(|n| format!("\x1b]8;;ftp:{n}\x07x")).collect();
        for (before, bytes, least) in [
            (&marks, "\x1b[H\x1b[@", 500 * MARK),
            (&marks, "\x1b[H\u{e9}\u{301}", 500 * BEHIND),
            (&marks, "\x1b[1;1;1;500;1;2;1$v", 500 * MARK),
            // A row of this screen holds the bytes of some 320 links.
            (&links, "\x1b[H\x1b[@", 300 * RUN),
            (&links, "\x1b[1;1;1;500;1;2;1$v", 300 * LINK),
        ] {
            let effort = spent(before, bytes);
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
