//! Functions on rectangles of the screen: DECCRA, DECFRA, DECERA, DECSERA.

use std::ops::Range;
use std::sync::Arc;

use crate::emulator::Emulator;
use crate::emulator::protection::Erasing;
use crate::parse::parameters::Parameters;
use crate::screen::row::Row;

/// Rows and columns.
pub(crate) type Rectangle = (Range<u16>, Range<u16>);

impl Emulator {
    /// DECCRA: copies a rectangle. There is but one page.
    pub(crate) fn copy_rectangle(&mut self, parameters: &Parameters) {
        let Some((rows, columns)) = self.rectangle(parameters, 0) else { return };
        // A place, given as its upper left corner, reaches as far as it may.
        let corner = [parameters.value(5), parameters.value(6), 0, 0];
        let Some((to_rows, to_columns)) = self.rectangle_of(corner) else { return };
        let height = rows.len().min(to_rows.len());
        let width = u16::try_from(columns.len().min(to_columns.len())).expect("4096 at most");
        let columns = columns.start..columns.start + width;
        let source = usize::from(rows.start)..usize::from(rows.start) + height;
        let source: Vec<Arc<Row>> = self.screen.rows[source].to_vec();
        for (row, from) in to_rows.zip(&source) {
            self.copy_cells(from, columns.clone(), row, to_columns.start);
        }
    }

    /// DECFRA: fills a rectangle with a character, which is given by its number in Latin-1.
    pub(crate) fn fill_rectangle(&mut self, parameters: &Parameters) {
        let c = match parameters.value(0) {
            number @ (0x20..=0x7e | 0xa0..=0xff) => char::from(number.to_le_bytes()[0]),
            _ => return,
        };
        let Some((rows, columns)) = self.rectangle(parameters, 1) else { return };
        let pen = self.screen.pen;
        for row in rows {
            self.effort.touch(columns.len());
            self.effort.copy_beside(&self.screen.rows[usize::from(row)]);
            self.row_mut_at(row, columns.start).fill(columns.clone(), c, pen);
            if !self.screen.decoration.is_none() {
                self.decorate(row, columns.clone());
            }
        }
    }

    /// DECERA.
    pub(crate) fn erase_rectangle(&mut self, parameters: &Parameters) {
        let Some((rows, columns)) = self.rectangle(parameters, 0) else { return };
        for row in rows {
            self.erase_in_row(row, columns.clone());
        }
    }

    /// DECSERA: erases what DECSCA has not protected.
    pub(crate) fn erase_rectangle_selectively(&mut self, parameters: &Parameters) {
        let Some((rows, columns)) = self.rectangle(parameters, 0) else { return };
        for row in rows {
            self.erase_sparing(row, columns.clone(), Erasing::SelectiveRectangle);
        }
    }

    /// Returns the rectangle that four numbers from `index` on give.
    pub(crate) fn rectangle(&self, parameters: &Parameters, index: usize) -> Option<Rectangle> {
        self.rectangle_of([0, 1, 2, 3].map(|number| parameters.value(index + number)))
    }

    /// Returns the rectangle between top, left, bottom and right, each from 1, in origin mode from the
    /// margins and within them; `None` for an empty one. 0 means as far as it may reach.
    fn rectangle_of(&self, [top, left, bottom, right]: [u16; 4]) -> Option<Rectangle> {
        let (mut rows, mut columns) = (0..self.screen.size.rows(), 0..self.columns());
        if self.modes.origin {
            rows = self.region.top..self.region.bottom + 1;
            columns = self.region.columns();
        }
        let range = |first: u16, last: u16, limit: Range<u16>| {
            let start = limit.start.saturating_add(first.max(1) - 1);
            let end =
                if last == 0 { limit.end } else { limit.start.saturating_add(last).min(limit.end) };
            Some(start..end).filter(|range| !range.is_empty())
        };
        Some((range(top, bottom, rows)?, range(left, right, columns)?))
    }
}
