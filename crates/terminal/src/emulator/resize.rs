//! Changes a screen's rows: their number and their width.

use std::sync::Arc;

use crate::screen::Size;
use crate::screen::cell::Pen;
use crate::screen::row::Row;

/// Drops the first `above` rows. Then cuts or adds columns at the right and rows at the bottom. New cells get `pen`.
pub(crate) fn resize_rows(rows: &mut Vec<Arc<Row>>, size: Size, above: u16, pen: Pen) {
    rows.drain(..usize::from(above));
    rows.truncate(usize::from(size.rows()));
    if rows.first().is_some_and(|row| row.columns() != size.columns()) {
        // Rows that share memory still share it after the resize.
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
