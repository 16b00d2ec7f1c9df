//! Makes screens from other screens: a line of text over a screen, a mix of two screens, or a screen of lines.

use std::sync::Arc;

use rove_units::Bytes;

use crate::screen::cell::Pen;
use crate::screen::row::Row;
use crate::screen::{Position, Screen, Size};
use crate::scrollback::ScrollbackLine;
use crate::width::char_width;

impl Screen {
    /// Returns the memory of this screen in bytes, without the parts that this screen shares with `neighbour`.
    pub fn bytes_beyond(&self, neighbour: Option<&Self>) -> Bytes {
        let shared = neighbour.map(|screen| row_addresses(&screen.rows)).unwrap_or_default();
        let rows = rows_beyond(&self.rows, &shared);
        let texts: usize = [
            (&self.titles.icon_name, neighbour.map(|screen| &screen.titles.icon_name)),
            (&self.titles.title, neighbour.map(|screen| &screen.titles.title)),
            (&self.directory, neighbour.map(|screen| &screen.directory)),
            (&self.clipboard, neighbour.map(|screen| &screen.clipboard)),
        ]
        .iter()
        .filter(|(text, theirs)| !theirs.is_some_and(|theirs| Arc::ptr_eq(text, theirs)))
        .map(|(text, _)| text.len())
        .sum();
        let colors = match neighbour {
            Some(neighbour) if Arc::ptr_eq(&self.colors, &neighbour.colors) => 0,
            _ => self.colors.bytes(),
        };
        let itself = size_of::<Self>() + size_of_val(&*self.rows);
        Bytes::new(u64::try_from(itself + rows + texts + colors).expect("memory fits 64 bits"))
    }

    /// Writes a line of text over the screen's cells, from `position` to the right edge. Does not move the cursor.
    /// Blanks a wide character that does not fit, or of which one half is overwritten.
    pub fn write_text(&mut self, position: Position, text: &str, pen: Pen) {
        let Some(slot) = self.rows.get_mut(usize::from(position.row)) else { return };
        if position.column >= self.size.columns() {
            return;
        }
        let row = Arc::make_mut(slot);
        row.split_wide(position.column);
        let mut column = position.column;
        let mut target = None;
        for c in text.chars().filter(|c| !c.is_control()) {
            let width = char_width(c);
            match target {
                _ if column + width > self.size.columns() => {
                    row.erase(column..self.size.columns(), pen);
                    break;
                }
                Some(target) if width == 0 => row.combine(target, c),
                None if width == 0 => {}
                _ => {
                    row.write(column, c, width == 2, pen);
                    target = Some(column);
                    column += width;
                }
            }
        }
    }

    /// Returns a screen halfway from `base` to `target`. It is `base`, including its cursor and modes, with the upper
    /// half of those rows of `target` that differ. `None` if at most one row differs.
    ///
    /// If the sizes differ, all other rows are blank, because a new size is repainted from a blank screen.
    pub fn midpoint(base: &Self, target: &Self) -> Option<Self> {
        let mut middle = base.clone();
        if base.size != target.size {
            middle.rows = Self::blank(target.size).rows;
            middle.size = target.size;
            middle.place_cursor(middle.cursor.position());
        }
        let differing: Vec<usize> = (0..target.rows.len())
            .filter(|&index| middle.rows[index] != target.rows[index])
            .collect();
        if differing.len() < 2 {
            return None;
        }
        for &index in &differing[..differing.len() / 2] {
            middle.rows[index] = Arc::clone(&target.rows[index]);
        }
        Some(middle)
    }

    /// Returns a screen between `base` and `target`, of equal size. It is `target` without its lower changed rows: up
    /// to `cells_max` cells have changed, but at least one row. `None` if all changed rows are within this limit.
    pub(crate) fn on_the_way(base: &Self, target: &Self, cells_max: usize) -> Option<Self> {
        debug_assert_eq!(base.size, target.size);
        let rows_max = (cells_max / usize::from(target.size.columns())).max(1);
        let differs = |&row: &usize| base.rows[row] != target.rows[row];
        let left: Vec<usize> = (0..target.rows.len()).filter(differs).skip(rows_max).collect();
        if left.is_empty() {
            return None;
        }
        let mut middle = target.clone();
        left.into_iter().for_each(|row| middle.rows[row] = Arc::clone(&base.rows[row]));
        Some(middle)
    }

    /// Creates a screen from lines below each other. The last line does not wrap. `None` if there is no line, if there
    /// are too many, or if the width of a line is not `columns`.
    pub fn of_lines<'a>(
        columns: u16,
        lines: impl ExactSizeIterator<Item = &'a ScrollbackLine>,
    ) -> Option<Self> {
        let size = Size::new(columns, u16::try_from(lines.len()).ok()?).ok()?;
        let mut screen = Self::blank(size);
        for (slot, line) in screen.rows.iter_mut().zip(lines) {
            if line.columns != columns {
                return None;
            }
            let mut row = line.row.resized(columns, Pen::default());
            row.wrapped = line.row.wrapped;
            *slot = Arc::new(row);
        }
        if let Some(last) = screen.rows.last_mut()
            && last.wrapped
        {
            Arc::make_mut(last).wrapped = false;
        }
        Some(screen)
    }
}

/// Returns the memory in bytes of the rows whose addresses are not in `shared`. A repeated row counts once.
pub(crate) fn rows_beyond(rows: &[Arc<Row>], shared: &[usize]) -> usize {
    let mut own: Vec<(usize, &Arc<Row>)> =
        rows.iter().map(|row| (Arc::as_ptr(row).addr(), row)).collect();
    own.sort_unstable_by_key(|(address, _)| *address);
    own.dedup_by_key(|(address, _)| *address);
    own.iter()
        .filter(|(address, _)| shared.binary_search(address).is_err())
        .map(|(_, row)| row.bytes())
        .sum()
}

/// Returns the memory addresses of rows, sorted. Two screens share a row if it has the same address on both.
pub(crate) fn row_addresses(rows: &[Arc<Row>]) -> Vec<usize> {
    let mut addresses: Vec<usize> = rows.iter().map(|row| Arc::as_ptr(row).addr()).collect();
    addresses.sort_unstable();
    addresses
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Size;
    use crate::terminal::Terminal;

    fn screen(columns: u16, rows: u16, input: &str) -> Screen {
        let mut terminal = Terminal::host(Size::clamped(columns, rows));
        terminal.write(input.as_bytes());
        terminal.snapshot()
    }

    fn write(screen: &mut Screen, row: u16, column: u16, text: &str) {
        screen.write_text(Position { row, column }, text, Pen::default());
        screen.assert_integrity();
    }

    #[test]
    fn a_screen_is_reached_by_so_many_cells_at_a_time() {
        let base = screen(6, 5, "a\r\nb\r\nc\r\nd\r\ne");
        let target = screen(6, 5, "A\r\nb\r\nC\r\nD\r\nE\x1b]2;title\x07");
        for (cells, rows) in
            [(24, None), (23, Some("A b C D e")), (6, Some("A b c d e")), (0, Some("A b c d e"))]
        {
            let middle = Screen::on_the_way(&base, &target, cells);
            let text = |screen: &Screen| {
                (0..5).map(|row| screen.row_text(row)).collect::<Vec<_>>().join(" ")
            };
            assert_eq!(middle.as_ref().map(text).as_deref(), rows, "{cells}");
            assert!(middle.is_none_or(|middle| middle.title() == "title"));
        }
        assert_eq!(Screen::on_the_way(&target, &target, 0), None);
    }

    #[test]
    fn a_notice_is_clipped_at_the_edge() {
        let mut shown = screen(6, 2, "abcdef");
        write(&mut shown, 0, 4, "12345");
        write(&mut shown, 1, 0, "一二三四");
        write(&mut shown, 7, 0, "below");
        write(&mut shown, 0, 9, "beyond");
        assert_eq!((shown.row_text(0), shown.row_text(1)), ("abcd12".into(), "一二三".into()));
    }

    #[test]
    fn a_notice_leaves_no_half_of_a_wide_character() {
        let mut shown = screen(6, 3, "一二三\r\n一二三\r\nabcdef");
        write(&mut shown, 0, 1, "x");
        write(&mut shown, 1, 2, "x");
        write(&mut shown, 2, 3, "一二");
        assert_eq!(shown.row_text(0), " x二三");
        assert_eq!(shown.row_text(1), "一x 三");
        assert_eq!(shown.row_text(2), "abc一");
    }

    #[test]
    fn a_notice_keeps_marks_and_drops_controls() {
        let mut shown = screen(6, 1, "");
        write(&mut shown, 0, 0, "\u{301}e\u{301}\x1b[x");
        assert_eq!(shown.row_text(0), "e\u{301}[x");
    }

    #[test]
    fn a_snapshot_costs_only_the_rows_written_since() {
        let mut terminal = Terminal::host(Size::clamped(80, 24));
        let blank = terminal.snapshot();
        terminal.write(b"one\r\ntwo");
        let written = terminal.snapshot();
        let alone = written.bytes_beyond(None).get();
        let beyond = written.bytes_beyond(Some(&blank)).get();
        let same = written.bytes_beyond(Some(&written)).get();
        let row = u64::try_from(Row::erased(80, Pen::default()).bytes()).expect("small");
        assert_eq!(alone - beyond, row, "the blank row is shared and counted once");
        assert_eq!(beyond - same, 2 * row);
    }

    #[test]
    fn midpoints_lead_to_the_target_in_halves() {
        for (base, target) in [
            (screen(4, 5, ""), screen(4, 5, "a\r\nb\r\nc\r\nd\r\ne")),
            (screen(4, 5, "a\r\nb\r\nc\r\nd\r\ne"), screen(4, 5, "a\r\nx\r\nc\r\ny\r\ne")),
            (screen(9, 2, "abcdefghi\r\nxyz"), screen(4, 3, "a\r\nb\r\nc")),
        ] {
            let mut base = base;
            let mut steps = 0;
            while let Some(middle) = Screen::midpoint(&base, &target) {
                middle.assert_integrity();
                assert!(middle.rows != base.rows);
                base = middle;
                steps += 1;
            }
            assert!((1..=4).contains(&steps), "{steps}");
        }
    }

    #[test]
    fn equal_rows_need_no_midpoint() {
        let (a, b) = (screen(4, 5, "a\r\nb\x1b]2;x\x07"), screen(4, 5, "a\r\nc"));
        assert!(Screen::midpoint(&a, &a).is_none());
        assert!(Screen::midpoint(&a, &b).is_none());
    }
}
