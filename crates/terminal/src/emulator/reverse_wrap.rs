//! Reverse wraparound (modes 45 and 1045): BS and CUB at the left margin continue at the right margin of the row above.

use crate::emulator::region::Region;
use crate::screen::{Position, Size};

/// How far BS and CUB continue when they reach the left margin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReverseWrap {
    /// Mode 45: BS and CUB continue in the row above if its text wrapped into this row, and stop at the top margin.
    /// Source: xterm's ctlseqs; xterm does so since version 383.
    WithinLine,
    /// Mode 1045: BS and CUB continue in any row above. From the top margin, they continue at the bottom margin.
    /// Source: mode 45 of xterm 379 as observed. There is one difference. In xterm, a CUB from the upper left corner of
    /// the margins moves to the lower right corner for any count.
    Anywhere,
}

impl ReverseWrap {
    /// Returns the position `count` cells before `from`, and the number of rows passed. `goes_on` returns whether the
    /// text of a row wraps into the next row.
    pub(crate) fn step_back(
        self,
        from: Position,
        count: u16,
        region: Region,
        size: Size,
        goes_on: impl Fn(u16) -> bool,
    ) -> (Position, usize) {
        let Position { mut row, mut column } = from;
        debug_assert!(row < size.rows() && column < size.columns(), "{from:?} is on the screen");
        let (mut left, mut passed) = (count, 0);
        loop {
            let first = if column >= region.left { region.left } else { 0 };
            if left <= column - first {
                return (Position { row, column: column - left }, passed);
            }
            if self == Self::WithinLine && (row == region.top || row == 0 || !goes_on(row - 1)) {
                return (Position { row, column: first }, passed);
            }
            left -= column - first + 1;
            column = region.right;
            row = match row {
                row if row == region.top => region.bottom,
                0 => size.rows() - 1,
                row => row - 1,
            };
            passed += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_go_up_and_around() {
        let size = Size::clamped(16, 6);
        let (open, rows) = (Region::full(size), Region { top: 1, bottom: 4, ..Region::full(size) });
        let sides = Region { left: 2, right: 7, ..open };
        let at = |row, column| Position { row, column };
        // Each case: start, count, margins, target. Positions count from 0.
        for (from, count, region, to) in [
            (at(3, 5), 5, open, at(3, 0)),
            (at(1, 0), 1, open, at(0, 15)),
            (at(1, 1), 4, open, at(0, 13)),
            (at(0, 0), 1, open, at(5, 15)),
            (at(0, 1), 3, open, at(5, 14)),
            (at(2, 2), 40, open, at(5, 10)),
            (at(2, 2), 200, open, at(1, 10)),
            (at(0, 0), 97, open, at(5, 15)),
            (at(1, 0), 1, rows, at(4, 15)),
            (at(0, 0), 1, rows, at(5, 15)),
            (at(0, 0), 3, rows, at(5, 13)),
            (at(5, 0), 1, rows, at(4, 15)),
            (at(5, 1), 50, rows, at(1, 15)),
            (at(1, 2), 3, sides, at(0, 5)),
            (at(1, 1), 3, sides, at(0, 6)),
            (at(1, 11), 11, sides, at(0, 6)),
            (at(0, 2), 1, sides, at(5, 7)),
            (at(2, 4), 9, sides, at(0, 7)),
        ] {
            let (end, _) = ReverseWrap::Anywhere.step_back(from, count, region, size, |_| false);
            assert_eq!(end, to, "{from:?} {count} {region:?}");
        }
    }

    #[test]
    fn steps_within_a_line_end_where_it_begins() {
        let size = Size::clamped(16, 6);
        let (open, rows) = (Region::full(size), Region { top: 2, bottom: 4, ..Region::full(size) });
        let at = |row, column| Position { row, column };
        // Rows 1 and 2 wrap. Each case: start, count, margins, target. Positions count from 0.
        for (from, count, region, to) in [
            (at(3, 5), 5, open, at(3, 0)),
            (at(3, 5), 6, open, at(2, 15)),
            (at(3, 5), 22, open, at(1, 15)),
            (at(3, 5), 37, open, at(1, 0)),
            (at(3, 5), 99, open, at(1, 0)),
            (at(4, 0), 1, open, at(4, 0)),
            (at(1, 0), 1, open, at(1, 0)),
            (at(0, 0), 1, open, at(0, 0)),
            (at(3, 0), 99, rows, at(2, 0)),
            (at(2, 0), 1, rows, at(2, 0)),
            (at(1, 0), 1, rows, at(1, 0)),
        ] {
            let goes_on = |row| matches!(row, 1 | 2);
            let (end, _) = ReverseWrap::WithinLine.step_back(from, count, region, size, goes_on);
            assert_eq!(end, to, "{from:?} {count} {region:?}");
        }
    }

    #[test]
    fn the_longest_way_through_the_narrowest_screen_ends() {
        let size = Size::clamped(1, 1);
        let place = Position { row: 0, column: 0 };
        for (mode, rows) in
            [(ReverseWrap::Anywhere, usize::from(u16::MAX)), (ReverseWrap::WithinLine, 0)]
        {
            let (to, passed) = mode.step_back(place, u16::MAX, Region::full(size), size, |_| true);
            assert_eq!((to, passed), (place, rows));
        }
    }
}
