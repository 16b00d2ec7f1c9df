//! The picture: everything two ends must agree on. A clone costs a reference count a row.

use std::sync::Arc;

use crate::cell::Pen;
use crate::cursor::Cursor;
use crate::mode::{MouseEncoding, MouseReporting};
use crate::row::Row;

/// Most columns a screen may have.
/// Chosen: four times the widest wall of monitors seen; bounds what a hostile peer can make us hold.
pub const COLUMNS_MAX: u16 = 4096;
/// Most rows a screen may have.
pub const ROWS_MAX: u16 = 2048;

/// The dimensions of a screen in cells, each at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    columns: u16,
    rows: u16,
}

/// A size no screen may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a screen of {columns} columns and {rows} rows is outside 1x1 to {COLUMNS_MAX}x{ROWS_MAX}")]
pub struct SizeError {
    /// The columns asked for.
    pub columns: i64,
    /// The rows asked for.
    pub rows: i64,
}

impl Size {
    /// The size of a terminal that says nothing of its own.
    pub const DEFAULT: Self = Self { columns: 80, rows: 24 };

    /// Creates a size.
    ///
    /// # Errors
    ///
    /// Returns [`SizeError`] outside 1x1 to 4096x2048.
    pub fn new(columns: impl Into<i64>, rows: impl Into<i64>) -> Result<Self, SizeError> {
        let (columns, rows) = (columns.into(), rows.into());
        let error = SizeError { columns, rows };
        match (u16::try_from(columns), u16::try_from(rows)) {
            (Ok(c @ 1..=COLUMNS_MAX), Ok(r @ 1..=ROWS_MAX)) => Ok(Self { columns: c, rows: r }),
            _ => Err(error),
        }
    }

    /// Creates the nearest allowed size.
    pub fn clamped(columns: u16, rows: u16) -> Self {
        Self { columns: columns.clamp(1, COLUMNS_MAX), rows: rows.clamp(1, ROWS_MAX) }
    }

    /// Returns the columns.
    pub const fn columns(self) -> u16 {
        self.columns
    }

    /// Returns the rows.
    pub const fn rows(self) -> u16 {
        self.rows
    }
}

/// A place on the screen, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Row, from the top.
    pub row: u16,
    /// Column, from the left.
    pub column: u16,
}

/// The picture two ends agree on, and what the user's terminal must follow with it.
#[derive(Clone, Debug)]
pub struct Screen {
    pub(crate) size: Size,
    pub(crate) rows: Vec<Arc<Row>>,
    pub(crate) cursor: Cursor,
    pub(crate) pen: Pen,
    pub(crate) reverse_video: bool,
    pub(crate) bracketed_paste: bool,
    pub(crate) focus_reporting: bool,
    pub(crate) mouse_reporting: MouseReporting,
    pub(crate) mouse_encoding: MouseEncoding,
    /// Whether any title was ever set; until then the outer title is left alone.
    pub(crate) titled: bool,
    pub(crate) icon_name: Arc<str>,
    pub(crate) title: Arc<str>,
    /// The base64 text last copied by the host (OSC 52), validated.
    pub(crate) clipboard: Arc<str>,
    /// How often the bell rang. Compared, but a diff rings once.
    pub(crate) bells: u64,
}

impl Screen {
    /// Creates a blank screen.
    pub fn blank(size: Size) -> Self {
        let blank = Arc::new(Row::erased(size.columns, Pen::default()));
        Self {
            size,
            rows: vec![blank; usize::from(size.rows)],
            cursor: Cursor { row: 0, column: 0, visible: true },
            pen: Pen::default(),
            reverse_video: false,
            bracketed_paste: false,
            focus_reporting: false,
            mouse_reporting: MouseReporting::Off,
            mouse_encoding: MouseEncoding::Default,
            titled: false,
            icon_name: "".into(),
            title: "".into(),
            clipboard: "".into(),
            bells: 0,
        }
    }

    /// Returns the dimensions.
    pub const fn size(&self) -> Size {
        self.size
    }

    /// Returns row `row`; `None` below the screen.
    pub fn row(&self, row: u16) -> Option<&Row> {
        self.rows.get(usize::from(row)).map(|row| &**row)
    }

    /// Returns the cursor.
    pub const fn cursor(&self) -> Cursor {
        self.cursor
    }
}
