//! Judges predictions by a new screen: confirms or drops them, and adapts the others.

use core::ops::ControlFlow;

use rove_predict::Engine;
use rove_terminal::{Pen, Position, Screen};
use rove_units::Instant;

use super::cell::{Epoch, Validity};
use super::cursor::CursorPrediction;
use super::{PredictedRow, Stock};

impl Stock {
    /// Judges all predictions by the new screen.
    pub(crate) fn cull(&mut self, now: Instant, screen: &Screen) {
        if screen.size() != self.size {
            self.size = screen.size();
            self.reset();
        }
        let is_active = self.is_active();
        // Stock compares the send interval with the limits with which rove's policy compares the SRTT.
        let interval = self.network.send_interval;
        self.policy.handle_srtt(Some(interval), interval, is_active);
        if self.cull_cells(now, screen).is_break() {
            return;
        }
        self.rows.retain(PredictedRow::is_active);
        self.cull_cursors(screen);
    }

    /// Judges the cells of all rows. Stops early if a wrong cell drops all predictions.
    fn cull_cells(&mut self, now: Instant, screen: &Screen) -> ControlFlow<()> {
        for index in 0..self.rows.len() {
            for column in 0..self.size.columns() {
                self.cull_cell(now, screen, index, column)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn cull_cell(
        &mut self,
        now: Instant,
        screen: &Screen,
        index: usize,
        column: u16,
    ) -> ControlFlow<()> {
        let row = &mut self.rows[index];
        let at = Position { row: row.row, column };
        let cell = &mut row.cells[usize::from(column)];
        let (Some(stamp), Some(validity)) =
            (cell.stamp, cell.validity(at, screen, self.network.echo_ack))
        else {
            return ControlFlow::Continue(());
        };
        match validity {
            Validity::Pending => self.policy.handle_wait(stamp.age(now)),
            Validity::NoCredit => cell.deactivate(),
            Validity::Correct => {
                cell.deactivate();
                if let Some(shown) = screen.glyph(at) {
                    row.repaint(column, shown.cell.pen);
                }
                self.confirmed = self.confirmed.max(stamp.epoch);
                self.policy.handle_confirmation(now, stamp.age(now));
            }
            Validity::Wrong if self.policy.is_experimental() => cell.deactivate(),
            Validity::Wrong if self.is_tentative(stamp.epoch) => {
                self.kill_epoch(now, screen, stamp.epoch);
            }
            Validity::Wrong => {
                self.reset();
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    }

    fn cull_cursors(&mut self, screen: &Screen) {
        let echo_ack = self.network.echo_ack;
        let newest = self.cursors.last().map(|cursor| cursor.validity(screen, echo_ack));
        if newest == Some(Validity::Wrong) {
            if self.policy.is_experimental() {
                self.cursors.clear();
            } else {
                self.reset();
            }
        }
        self.cursors.retain(|cursor| cursor.validity(screen, echo_ack) == Validity::Pending);
        let epochs = self.cursors.iter().map(|cursor| cursor.stamp.epoch);
        debug_assert!(epochs.is_sorted(), "cursors stand in the order of their epochs");
    }

    /// Drops a tentative epoch and all later epochs. A new prediction then puts the cursor where the screen has it.
    fn kill_epoch(&mut self, now: Instant, screen: &Screen, epoch: Epoch) {
        self.cursors.retain(|cursor| cursor.stamp.epoch < epoch);
        let (cursor, stamp) = (screen.cursor(), self.stamp(now));
        let at = cursor.position();
        self.cursors.push(CursorPrediction { at, stamp });
        for cell in self.rows.iter_mut().flat_map(|row| &mut row.cells) {
            if cell.stamp.is_some_and(|stamp| stamp.epoch >= epoch) {
                cell.deactivate();
            }
        }
        self.become_tentative();
    }
}

impl PredictedRow {
    /// Gives the predicted cells from `column` on the pen of the cell that was confirmed at `column`.
    fn repaint(&mut self, column: u16, pen: Pen) {
        for cell in &mut self.cells[usize::from(column)..] {
            let cell = &mut cell.content.glyph.cell;
            let is_empty = cell.base.is_none() && !cell.combined;
            cell.pen = if is_empty { pen.erased() } else { pen };
        }
    }
}
