//! Prints text. Each character with a width gets a separate cell. If the user's terminal supports clusters, all
//! characters of a cluster share a cell instead.

use crate::cluster_widths::{ClusterWidths, begins_cluster, is_selector};
use crate::emulator::charset::Charsets;
use crate::emulator::grid::Grid;
use crate::newer::{NewerWide, may_be_newer};
use crate::screen::Position;
use crate::screen::marks::CELL_TEXT_BYTES_MAX;
use crate::user_terminal::UserTerminal;
use crate::width::char_width;

/// Writes characters to the grid: translates and measures them, and joins combining characters to the previous cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Printer {
    pub(crate) charsets: Charsets,
    /// The character that REP repeats. `None` until a character was printed.
    last_printed: Option<char>,
    /// The kinds of clusters that the user's terminal draws as one character. Empty in a replica, because a diff states
    /// the width of each cluster.
    counting: ClusterWidths,
    /// The characters that are wide on the user's terminal, but missing in this crate's width tables.
    newer_wide: NewerWide,
}

impl Printer {
    /// Sets how many columns the user's terminal gives to clusters and to newer characters.
    pub(crate) const fn learn(&mut self, user_terminal: &UserTerminal) {
        self.counting = user_terminal.cluster_widths;
        self.newer_wide = user_terminal.newer_wide;
    }

    /// Prints ASCII text without control characters, translated by the active character set.
    pub(crate) fn print_ascii_text(&mut self, grid: &mut Grid, text: &[u8]) {
        if self.charsets.is_plain() {
            self.print_ascii(grid, text);
        } else {
            self.print_text(grid, str::from_utf8(text).expect("ASCII"));
        }
    }

    pub(crate) fn print_text(&mut self, grid: &mut Grid, text: &str) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let run = self.print_in_row(grid, rest, c);
            if run == 0 {
                let c = self.charsets.translate(c);
                self.print_char(grid, c);
            }
            rest = &rest[run.max(c.len_utf8())..];
        }
    }

    /// Prints as much of `text` as fits into the row, if its characters need no special treatment. `first` is its first
    /// character. Returns the number of bytes printed. If the number is 0, the caller must print `first` by itself.
    fn print_in_row(&mut self, grid: &mut Grid, text: &str, first: char) -> usize {
        let end = self.plain_end(grid, text);
        let plain = end > 0
            && self.charsets.is_plain()
            && !grid.modes.insert
            && grid.screen.decoration.is_none()
            && grid.has_full_width();
        if !plain || char_width(first) == 0 {
            return 0;
        }
        grid.wrap_if_pending();
        let (at, pen) = (grid.screen.cursor, grid.screen.pen);
        let row = grid.row_mut_at(at.row, at.column);
        let Some(written) = row.write_text(at.column, &text[..end], pen) else { return 0 };
        grid.effort.touch(written.bytes);
        let marks = &grid.screen.rows[usize::from(at.row)].marks;
        let behind = marks.len_from(written.column + written.columns);
        grid.effort.move_at_once(written.pieces * behind);
        self.last_printed = Some(written.last);
        grid.advance(at.row, written.column, written.columns);
        written.bytes
    }

    /// Prints the last character `count` times, but at most once per cell of the screen (REP). Further repetitions
    /// would only scroll the same text, and keep the server busy. A replica ignores REP, as stock Mosh does.
    pub(crate) fn repeat(&mut self, grid: &mut Grid, count: u16) {
        let Some(c) = self.last_printed.filter(|_| grid.is_host()) else { return };
        let screenful = grid.columns().saturating_mul(grid.screen.size.rows());
        let count = count.min(screenful);
        if !c.is_ascii() {
            return (0..count).for_each(|_| self.print_char(grid, c));
        }
        let mut byte = [0];
        c.encode_utf8(&mut byte);
        let row = vec![byte[0]; usize::from(count.min(grid.columns()))];
        for start in (0..count).step_by(row.len()) {
            self.print_ascii(grid, &row[..row.len().min(usize::from(count - start))]);
        }
    }

    /// Prints ASCII text without control characters and without translation, row by row.
    fn print_ascii(&mut self, grid: &mut Grid, mut text: &[u8]) {
        if let Some(&last) = text.last() {
            self.last_printed = Some(char::from(last));
        }
        while !text.is_empty() {
            grid.wrap_if_pending();
            let cursor = grid.screen.cursor;
            let end = grid.line_end() + 1;
            // Left of the left margin, text overwrites cells even in insert mode. From the margin on, text is inserted.
            let inserts_later = grid.modes.insert && cursor.column < grid.region.left;
            let stop = if inserts_later { grid.region.left } else { end };
            let room = stop - cursor.column;
            let count = u16::try_from(text.len()).map_or(room, |len| len.min(room));
            if grid.modes.insert {
                grid.insert_cells(count);
            }
            let (head, tail) = text.split_at(usize::from(count));
            grid.effort.touch(head.len());
            let pen = grid.screen.pen;
            grid.row_mut_at(cursor.row, cursor.column).write_ascii(cursor.column, head, pen);
            if !grid.screen.decoration.is_none() {
                grid.decorate(cursor.row, cursor.column..cursor.column + count);
            }
            grid.advance(cursor.row, cursor.column + count - 1, 1);
            // Without autowrap, further characters overwrite the last column, so only the last character stays.
            let drops = stop == end && !grid.modes.autowrap;
            text = if drops { &tail[tail.len().saturating_sub(1)..] } else { tail };
        }
    }

    fn print_char(&mut self, grid: &mut Grid, c: char) {
        match char_width(c) {
            0 => self.combine(grid, c),
            _ if self.joins(grid, c) => self.combine(grid, c),
            _ => {
                let width =
                    if self.newer_wide.contains(c) { 2 } else { self.counting.char_width(c) };
                self.last_printed = Some(c);
                self.print_wide_or_narrow(grid, c, width);
            }
        }
    }

    fn print_wide_or_narrow(&mut self, grid: &mut Grid, c: char, width: u16) {
        grid.effort.touch(1);
        grid.wrap_if_pending();
        let last = grid.line_end();
        if width == 2 && grid.screen.cursor.column == last {
            grid.erase_in_row(grid.screen.cursor.row, last..last + 1);
            if !grid.modes.autowrap || last == grid.line_start() {
                return;
            }
            grid.go_to_next_line();
        }
        if grid.modes.insert {
            grid.insert_cells(width);
        }
        let (cursor, pen) = (grid.screen.cursor, grid.screen.pen);
        let row = grid.row_mut_at(cursor.row, cursor.column);
        row.write(cursor.column, c, width == 2, pen);
        if !grid.screen.decoration.is_none() {
            // The right half of a wide character has no decoration.
            grid.decorate(cursor.row, cursor.column..cursor.column + 1);
        }
        grid.advance(cursor.row, cursor.column, width);
    }

    /// Adds a combining character to the last printed cell. After a motion, adds it to the cell under the cursor, if
    /// [`Self::may_combine_after_motion`].
    fn combine(&mut self, grid: &mut Grid, mark: char) {
        if grid.combining_target.is_none() && !self.may_combine_after_motion(mark) {
            return;
        }
        grid.effort.touch(1);
        let cursor = grid.screen.cursor;
        let under = cursor.position();
        let mut target = grid.combining_target.unwrap_or(under);
        let host = grid.is_host();
        grid.effort.move_behind(&grid.screen.rows[usize::from(target.row)], target.column);
        let row = grid.row_mut(target.row);
        if host && target.column > 0 && row.cells[usize::from(target.column) - 1].wide {
            target.column -= 1;
        }
        let cell = row.cells[usize::from(target.column)];
        row.combine(target.column, mark);
        if cell.is_blank() {
            grid.advance(cursor.row, cursor.column, 1);
            grid.combining_target = Some(target);
        } else if grid.combining_target.is_some() {
            self.fit(grid, target);
        }
    }

    /// Returns how many bytes at the start of `text` certainly contain neither a cluster nor a newer wide character.
    fn plain_end(&self, grid: &Grid, text: &str) -> usize {
        let newer_wide = &self.newer_wide;
        let may_be_wide = |c| !newer_wide.is_empty() && may_be_newer(c);
        if self.counting.is_code_points() {
            return if newer_wide.is_empty() {
                text.len()
            } else {
                text.find(may_be_wide).unwrap_or(text.len())
            };
        }
        let last = grid.combining_target.and_then(|at| grid.text_at(at).chars().next_back());
        if !last.is_none_or(begins_cluster) {
            return 0;
        }
        text.find(|c| !begins_cluster(c) || may_be_wide(c)).unwrap_or(text.len())
    }

    /// Returns whether `c` belongs to the cluster in the cell that was printed last. Always false for a full cell. Then
    /// `c` gets a separate cell: unlike a mark, it has a width, and must not be dropped.
    fn joins(&self, grid: &Grid, c: char) -> bool {
        let joins =
            |text: String| text.len() < CELL_TEXT_BYTES_MAX && self.counting.joins(&text, c);
        !self.counting.is_code_points()
            && grid.combining_target.is_some_and(|at| joins(grid.text_at(at)))
    }

    /// Returns whether a mark may join the cell under the cursor after a motion. If clusters are supported, a variation
    /// selector may not join. It would change the width of a cell between other cells.
    fn may_combine_after_motion(&self, mark: char) -> bool {
        self.counting.is_code_points() || !is_selector(mark)
    }

    /// Adapts the width of the cell at `at`, the last printed cell, to its text, which has become longer.
    fn fit(&mut self, grid: &mut Grid, at: Position) {
        if self.counting.is_code_points() {
            return;
        }
        let text = grid.text_at(at);
        let wide = self.counting.cell_width(&text) == 2
            || text.starts_with(|base| self.newer_wide.contains(base));
        let (column, end) = (at.column, grid.line_end());
        let cell = grid.screen.rows[usize::from(at.row)].cells[usize::from(column)];
        if wide == cell.wide {
            return;
        }
        if wide && column >= end {
            return self.carry_over(grid, at);
        }
        if wide && grid.modes.insert {
            grid.insert_cells(1);
        }
        grid.effort.touch(1);
        grid.row_mut(at.row).set_wide(column, wide);
        grid.advance(at.row, column, if wide { 2 } else { 1 });
    }

    /// Moves the cell in the last column to the next row, because its text needs two columns. If there is no autowrap,
    /// or the line has a single column, the cell stays and keeps only its base character.
    fn carry_over(&mut self, grid: &mut Grid, at: Position) {
        let row = grid.row_mut(at.row);
        let (cell, marks) = (row.cells[usize::from(at.column)], row.marks(at.column).to_owned());
        let Some(base) = cell.base else { return };
        let pen = core::mem::replace(&mut grid.screen.pen, cell.pen);
        grid.screen.cursor.column = at.column;
        grid.pending_wrap = false;
        if grid.modes.autowrap && at.column > grid.line_start() {
            self.print_wide_or_narrow(grid, base, 2);
            marks.chars().for_each(|mark| self.combine(grid, mark));
        } else {
            self.print_wide_or_narrow(grid, base, 1);
        }
        grid.screen.pen = pen;
    }

    /// Prints a cluster with a stated width (OSC 66): `w=1;` or `w=2;`, then the text. Only a replica performs this.
    pub(crate) fn print_sized(&mut self, grid: &mut Grid, sized: &str) {
        let Some((width, text)) = sized.split_once(';').filter(|_| !grid.is_host()) else { return };
        let width = match width {
            "w=1" => 1,
            "w=2" => 2,
            _ => return,
        };
        let mut text = text.chars();
        let Some(base) = text.next().filter(|base| char_width(*base) > 0) else { return };
        self.print_wide_or_narrow(grid, base, width);
        for mark in text.filter(|mark| !mark.is_control()) {
            self.combine(grid, mark);
        }
    }
}
