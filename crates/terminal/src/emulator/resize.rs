//! Following the size of the window.

use std::sync::Arc;

use crate::emulator::Emulator;
use crate::emulator::region::Region;
use crate::emulator::saved_cursor::SavedCursor;
use crate::screen::Size;
use crate::screen::cell::Pen;
use crate::screen::row::Row;

impl Emulator {
    /// Changes the size. Rows are cut and added at the bottom, but a host keeps the cursor's row:
    /// rows above it go first. Nothing is reflowed.
    pub(crate) fn resize(&mut self, size: Size) {
        if size == self.screen.size {
            return;
        }
        self.count_resize(size);
        let pen = self.screen.pen.erased();
        let (host, cursor) = (self.is_host(), self.screen.cursor);
        let last = self.screen.size.rows() - 1;
        let dropped = |row: u16| {
            // A saved cursor may be from a time when the screen had more rows.
            if host { (row.min(last) + 1).saturating_sub(size.rows()) } else { 0 }
        };

        let above = dropped(cursor.row);
        resize_rows(&mut self.screen.rows, size, above, pen);
        lift(&mut self.saved_cursor, above);
        if let Some(hidden) = &mut self.hidden {
            let above = dropped(hidden.saved_cursor.row);
            resize_rows(&mut hidden.rows, size, above, Pen::default());
            lift(&mut hidden.saved_cursor, above);
        }

        self.screen.size = size;
        self.region = Region::full(size);
        self.tabs.resize(size.columns());
        let pending_wrap = self.pending_wrap && cursor.column + 1 >= size.columns();
        let target = self.combining_target;
        // A wrap that was pending finds room now.
        let column = cursor.column + u16::from(self.pending_wrap && !pending_wrap);
        self.set_cursor(cursor.row - above, column);
        self.pending_wrap = pending_wrap;
        self.combining_target = target.and_then(|mut target| {
            target.row = target.row.checked_sub(above)?;
            (target.row < size.rows() && target.column < size.columns()).then_some(target)
        });
        self.announce_size();
    }

    /// Counts that all rows are copied into ones of another length.
    fn count_resize(&mut self, size: Size) {
        self.effort.move_rows(usize::from(size.rows()));
        if size.columns() != self.columns() {
            let hidden = self.hidden.iter().flat_map(|hidden| &hidden.rows);
            for row in self.screen.rows.iter().chain(hidden) {
                self.effort.copy_row(row);
                self.effort.touch(usize::from(size.columns()));
            }
        }
    }
}

/// Cuts or adds columns at the right and rows at the bottom, after dropping rows `above`.
pub(crate) fn resize_rows(rows: &mut Vec<Arc<Row>>, size: Size, above: u16, pen: Pen) {
    rows.drain(..usize::from(above));
    rows.truncate(usize::from(size.rows()));
    if rows.first().is_some_and(|row| row.columns() != size.columns()) {
        // Rows that were one object stay one.
        let mut last: Option<(Arc<Row>, Arc<Row>)> = None;
        for row in rows.iter_mut() {
            let resized = match &last {
                Some((old, new)) if Arc::ptr_eq(old, row) => Arc::clone(new),
                _ => Arc::new(row.resized(size.columns(), pen)),
            };
            last = Some((core::mem::replace(row, Arc::clone(&resized)), resized));
        }
    }
    if rows.len() < usize::from(size.rows()) {
        let blank = Arc::new(Row::erased(size.columns(), pen));
        rows.resize(usize::from(size.rows()), blank);
    }
}

/// Lets a saved cursor follow rows that moved up.
fn lift(saved: &mut SavedCursor, rows: u16) {
    saved.row = saved.row.saturating_sub(rows);
}
