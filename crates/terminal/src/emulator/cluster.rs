//! Characters of several code points, where the user's terminal counts them as one.

use crate::cluster_widths::{ClusterWidths, begins_cluster, is_selector};
use crate::emulator::Emulator;
use crate::screen::Position;
use crate::width::char_width;

impl Emulator {
    /// Returns how columns are counted. A far end says itself how wide a cell is, so a replica needs no rule.
    pub(crate) const fn counting(&self) -> ClusterWidths {
        self.user_terminal.cluster_widths
    }

    /// Returns how many bytes at the beginning of `text` are characters that no cluster needs to be looked for in.
    pub(crate) fn plain_end(&self, text: &str) -> usize {
        if self.counting().is_code_points() {
            return text.len();
        }
        let last = self.combining_target.and_then(|at| self.text_at(at).chars().next_back());
        if !last.is_none_or(begins_cluster) {
            return 0;
        }
        text.find(|c| !begins_cluster(c)).unwrap_or(text.len())
    }

    /// Returns whether a character belongs to the cell that was printed last.
    pub(crate) fn joins(&self, c: char) -> bool {
        let counting = self.counting();
        !counting.is_code_points()
            && self.combining_target.is_some_and(|at| counting.joins(&self.text_at(at), c))
    }

    /// Returns whether a mark may be added to the cell under the cursor, where no text was printed just now: where clusters
    /// are counted, a selector that came alone would give the cell other columns than those it stands in.
    pub(crate) fn may_combine_after_motion(&self, mark: char) -> bool {
        self.counting().is_code_points() || !is_selector(mark)
    }

    /// Gives the cell that was printed last, and has got more text, the columns of that text.
    pub(crate) fn fit(&mut self, at: Position) {
        if self.counting().is_code_points() {
            return;
        }
        let wide = self.counting().cell_width(&self.text_at(at)) == 2;
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

    /// Moves a cell that needs two columns, and has got the last one, to the next row as if it had been printed so at once; without
    /// autowrap its base stays, alone.
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

    /// The far end's word for how it counts from here on.
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
