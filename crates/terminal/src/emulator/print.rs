//! Printing characters, each in a cell of its own or, where the user's terminal counts so, several as one cluster.

use crate::cluster_widths::{ClusterWidths, begins_cluster, is_selector};
use crate::emulator::Emulator;
use crate::newer::may_be_newer;
use crate::screen::Position;
use crate::width::char_width;

impl Emulator {
    /// Prints a run of ASCII.
    pub(crate) fn print_ascii_text(&mut self, text: &[u8]) {
        if self.charsets.is_plain() {
            self.print_ascii(text);
        } else {
            self.print_text(str::from_utf8(text).expect("ASCII"));
        }
    }

    /// Prints a run of text.
    pub(crate) fn print_text(&mut self, text: &str) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let run = self.print_in_row(rest, c);
            if run == 0 {
                let c = self.charsets.translate(c);
                self.print_char(c);
            }
            rest = &rest[run.max(c.len_utf8())..];
        }
    }

    /// Prints the beginning of `text` that fits into a row, if nothing special is to be done for its
    /// characters; `first` is the first of them. Returns its bytes.
    fn print_in_row(&mut self, text: &str, first: char) -> usize {
        let end = self.plain_end(text);
        let plain = end > 0
            && self.charsets.is_plain()
            && !self.modes.insert
            && self.screen.decoration.is_none()
            && self.has_full_width();
        if !plain || char_width(first) == 0 {
            return 0;
        }
        self.wrap_if_pending();
        let (at, pen) = (self.screen.cursor, self.screen.pen);
        let row = self.row_mut_at(at.row, at.column);
        let Some(written) = row.write_text(at.column, &text[..end], pen) else { return 0 };
        self.effort.touch(written.bytes);
        let marks = &self.screen.rows[usize::from(at.row)].marks;
        let behind = marks.len_from(written.column + written.columns);
        self.effort.move_at_once(written.pieces * behind);
        self.last_printed = Some(written.last);
        self.advance(at.row, written.column, written.columns);
        written.bytes
    }

    /// REP: prints the last character again, a screenful at most: more would only scroll the same text
    /// away, while a few bytes keep the server busy. Stock Mosh does not know it, nor does a replica.
    pub(crate) fn repeat(&mut self, count: u16) {
        let Some(c) = self.last_printed.filter(|_| self.is_host()) else { return };
        let screenful = self.columns().saturating_mul(self.screen.size.rows());
        let count = count.min(screenful);
        if !c.is_ascii() {
            return (0..count).for_each(|_| self.print_char(c));
        }
        let mut byte = [0];
        c.encode_utf8(&mut byte);
        let row = vec![byte[0]; usize::from(count.min(self.columns()))];
        for start in (0..count).step_by(row.len()) {
            self.print_ascii(&row[..row.len().min(usize::from(count - start))]);
        }
    }

    /// Prints ASCII without controls, a row's worth at a time.
    fn print_ascii(&mut self, mut text: &[u8]) {
        if let Some(&last) = text.last() {
            self.last_printed = Some(char::from(last));
        }
        while !text.is_empty() {
            self.wrap_if_pending();
            let cursor = self.screen.cursor;
            let room = self.line_end() + 1 - cursor.column;
            let count = u16::try_from(text.len()).map_or(room, |len| len.min(room));
            if self.modes.insert {
                self.insert_cells(count);
            }
            let (head, tail) = text.split_at(usize::from(count));
            self.effort.touch(head.len());
            let pen = self.screen.pen;
            self.row_mut_at(cursor.row, cursor.column).write_ascii(cursor.column, head, pen);
            if !self.screen.decoration.is_none() {
                self.decorate(cursor.row, cursor.column..cursor.column + count);
            }
            self.advance(cursor.row, cursor.column + count - 1, 1);
            // Without autowrap the rest overwrites the last column, and only its end stays.
            text = if self.modes.autowrap { tail } else { &tail[tail.len().saturating_sub(1)..] };
        }
    }

    fn print_char(&mut self, c: char) {
        match char_width(c) {
            0 => self.combine(c),
            _ if self.joins(c) => self.combine(c),
            _ => {
                let width = if self.user_terminal.newer_wide.contains(c) {
                    2
                } else {
                    self.counting().char_width(c)
                };
                self.last_printed = Some(c);
                self.print_wide_or_narrow(c, width);
            }
        }
    }

    fn print_wide_or_narrow(&mut self, c: char, width: u16) {
        self.effort.touch(1);
        self.wrap_if_pending();
        let last = self.line_end();
        if width == 2 && self.screen.cursor.column == last {
            self.erase_in_row(self.screen.cursor.row, last..last + 1);
            if !self.modes.autowrap || last == self.line_start() {
                return;
            }
            self.go_to_next_line();
        }
        if self.modes.insert {
            self.insert_cells(width);
        }
        let (cursor, pen) = (self.screen.cursor, self.screen.pen);
        let row = self.row_mut_at(cursor.row, cursor.column);
        row.write(cursor.column, c, width == 2, pen);
        if !self.screen.decoration.is_none() {
            // The empty half of a wide character is never decorated, so it needs no care when it loses
            // the other.
            self.decorate(cursor.row, cursor.column..cursor.column + 1);
        }
        self.advance(cursor.row, cursor.column, width);
    }

    /// Adds a combining character to the cell last printed or, after a movement, under the cursor.
    fn combine(&mut self, mark: char) {
        if self.combining_target.is_none() && !self.may_combine_after_motion(mark) {
            return;
        }
        self.effort.touch(1);
        let cursor = self.screen.cursor;
        let under = cursor.position();
        let mut target = self.combining_target.unwrap_or(under);
        let host = self.is_host();
        self.effort.move_behind(&self.screen.rows[usize::from(target.row)], target.column);
        let row = self.row_mut(target.row);
        if host && target.column > 0 && row.cells[usize::from(target.column) - 1].wide {
            target.column -= 1;
        }
        let cell = row.cells[usize::from(target.column)];
        row.combine(target.column, mark);
        if cell.is_blank() {
            self.advance(cursor.row, cursor.column, 1);
            self.combining_target = Some(target);
        } else if self.combining_target.is_some() {
            self.fit(target);
        }
    }

    /// Goes to the next row if the last column has been written.
    fn wrap_if_pending(&mut self) {
        if self.pending_wrap && self.modes.autowrap {
            if self.screen.cursor.column + 1 == self.columns() {
                self.row_mut(self.screen.cursor.row).wrapped = true;
            }
            self.go_to_next_line();
        }
    }

    fn go_to_next_line(&mut self) {
        self.index();
        self.screen.cursor.column = self.region.left;
    }

    /// Puts the cursor behind the cell printed at `column`.
    fn advance(&mut self, row: u16, column: u16, width: u16) {
        let last = self.line_end();
        self.pending_wrap = column + width > last;
        self.screen.cursor.column = (column + width).min(last);
        self.combining_target = Some(Position { row, column });
    }

    /// Returns how columns are counted. A far end says itself how wide a cell is, so a replica needs no rule.
    pub(crate) const fn counting(&self) -> ClusterWidths {
        self.user_terminal.cluster_widths
    }

    /// Returns the length in bytes of the beginning of `text` in which each character has a cell of its own for certain.
    fn plain_end(&self, text: &str) -> usize {
        let newer_wide = &self.user_terminal.newer_wide;
        let may_be_wide = |c| !newer_wide.is_empty() && may_be_newer(c);
        if self.counting().is_code_points() {
            return if newer_wide.is_empty() {
                text.len()
            } else {
                text.find(may_be_wide).unwrap_or(text.len())
            };
        }
        let last = self.combining_target.and_then(|at| self.text_at(at).chars().next_back());
        if !last.is_none_or(begins_cluster) {
            return 0;
        }
        text.find(|c| !begins_cluster(c) || may_be_wide(c)).unwrap_or(text.len())
    }

    /// Returns whether a character belongs to the cell that was printed last.
    fn joins(&self, c: char) -> bool {
        let counting = self.counting();
        !counting.is_code_points()
            && self.combining_target.is_some_and(|at| counting.joins(&self.text_at(at), c))
    }

    /// Returns whether a mark may be added to the cell under the cursor, where no text was printed just now: where clusters
    /// are counted, a selector that came alone would give the cell other columns than those it stands in.
    fn may_combine_after_motion(&self, mark: char) -> bool {
        self.counting().is_code_points() || !is_selector(mark)
    }

    /// Gives the cell that was printed last, and has got more text, the columns of that text.
    fn fit(&mut self, at: Position) {
        if self.counting().is_code_points() {
            return;
        }
        let text = self.text_at(at);
        let wide = self.counting().cell_width(&text) == 2
            || text.starts_with(|base| self.user_terminal.newer_wide.contains(base));
        let (column, end) = (at.column, self.line_end());
        let cell = self.screen.rows[usize::from(at.row)].cells[usize::from(column)];
        if wide == cell.wide {
            return;
        }
        if wide && column >= end {
            return self.carry_over(at);
        }
        if wide && self.modes.insert {
            self.insert_cells(1);
        }
        self.effort.touch(1);
        self.row_mut(at.row).set_wide(column, wide);
        self.advance(at.row, column, if wide { 2 } else { 1 });
    }

    /// Moves the cell in the last column to the next row because its text needs two columns. Without autowrap its base stays there
    /// alone.
    fn carry_over(&mut self, at: Position) {
        let row = self.row_mut(at.row);
        let (cell, marks) = (row.cells[usize::from(at.column)], row.marks(at.column).to_owned());
        let Some(base) = cell.base else { return };
        let pen = core::mem::replace(&mut self.screen.pen, cell.pen);
        self.screen.cursor.column = at.column;
        self.pending_wrap = false;
        if self.modes.autowrap && at.column > self.line_start() {
            self.print_wide_or_narrow(base, 2);
            marks.chars().for_each(|mark| self.combine(mark));
        } else {
            self.print_wide_or_narrow(base, 1);
        }
        self.screen.pen = pen;
    }

    /// Records how the far end counts columns from here on (`CSI = n w`).
    pub(crate) fn count_as_told(&mut self, bits: u16) {
        if !self.is_host() {
            self.screen.cluster_widths = ClusterWidths::from_bits(bits.into());
        }
    }

    /// OSC 66, of a far end only: a cluster with the columns that it takes.
    pub(crate) fn print_sized(&mut self, sized: &str) {
        let Some((width, text)) = sized.split_once(';').filter(|_| !self.is_host()) else { return };
        let width = match width {
            "w=1" => 1,
            "w=2" => 2,
            _ => return,
        };
        let mut text = text.chars();
        let Some(base) = text.next().filter(|base| char_width(*base) > 0) else { return };
        self.print_wide_or_narrow(base, width);
        for mark in text.filter(|mark| !mark.is_control()) {
            self.combine(mark);
        }
    }

    /// Returns the text of a cell; empty where it has no base.
    fn text_at(&self, at: Position) -> String {
        let row = &self.screen.rows[usize::from(at.row)];
        // Marks alone are no text that anything joins.
        let Some(base) = row.cells[usize::from(at.column)].base else { return String::new() };
        format!("{base}{}", row.marks(at.column))
    }
}
