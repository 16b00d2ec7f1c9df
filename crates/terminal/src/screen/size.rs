//! The size of a screen, and positions on it.

/// Most columns of a screen. Chosen: four times the widest wall of monitors known. This limits the memory that a
/// hostile peer can make this end allocate.
pub const COLUMNS_MAX: u16 = 4096;
/// Most rows of a screen. Chosen: as for [`COLUMNS_MAX`], to limit the memory that a hostile peer can claim.
pub const ROWS_MAX: u16 = 2048;

/// The size of a screen in columns and rows, each at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    columns: u16,
    rows: u16,
}

/// The error for a size that no screen may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a screen of {columns} columns and {rows} rows is outside 1x1 to {COLUMNS_MAX}x{ROWS_MAX}")]
pub struct SizeError {
    /// The requested number of columns.
    pub columns: i64,
    /// The requested number of rows.
    pub rows: i64,
}

impl Size {
    /// The size that is assumed for a terminal that does not report its size.
    pub const DEFAULT: Self = Self { columns: 80, rows: 24 };

    /// Creates a size of `columns` and `rows`.
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

    /// Creates the allowed size nearest to `columns` and `rows`.
    pub fn clamped(columns: u16, rows: u16) -> Self {
        Self { columns: columns.clamp(1, COLUMNS_MAX), rows: rows.clamp(1, ROWS_MAX) }
    }

    /// Returns the number of columns.
    pub const fn columns(self) -> u16 {
        self.columns
    }

    /// Returns the number of rows.
    pub const fn rows(self) -> u16 {
        self.rows
    }
}

/// The position of a cell on the screen. Row and column count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The row, from the top.
    pub row: u16,
    /// The column, from the left.
    pub column: u16,
}
