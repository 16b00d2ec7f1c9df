//! The dimensions of a screen, and places on it.

/// Most columns a screen may have. Chosen: four times the widest wall of monitors seen; bounds what a hostile peer can
/// make us hold.
pub const COLUMNS_MAX: u16 = 4096;
/// Most rows a screen may have.
pub const ROWS_MAX: u16 = 2048;

/// The dimensions of a screen in cells, each at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    columns: u16,
    rows: u16,
}

/// A size that no screen may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a screen of {columns} columns and {rows} rows is outside 1x1 to {COLUMNS_MAX}x{ROWS_MAX}")]
pub struct SizeError {
    /// The columns asked for.
    pub columns: i64,
    /// The rows asked for.
    pub rows: i64,
}

impl Size {
    /// The size of a terminal that does not report its own.
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

/// A place on the screen. Both numbers count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Row, from the top.
    pub row: u16,
    /// Column, from the left.
    pub column: u16,
}
