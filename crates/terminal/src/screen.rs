//! The screen: the state on which both ends of a session agree. A clone only copies a reference for each row.

pub(crate) mod cell;
pub(crate) mod cells;
mod color_space;
pub(crate) mod compose;
pub(crate) mod cursor;
pub(crate) mod decoration;
pub(crate) mod glyph;
mod intensity;
pub(crate) mod marks;
pub(crate) mod mode;
mod overlay;
pub(crate) mod palette;
pub(crate) mod progress;
pub(crate) mod rgb;
pub(crate) mod row;
mod size;
pub(crate) mod titles;

use std::sync::Arc;

use self::cell::Pen;
use self::cursor::Cursor;
use self::decoration::Decoration;
use self::mode::{InputModes, RichModes};
use self::palette::Colors;
use self::progress::Progress;
use self::row::Row;
pub use self::size::{COLUMNS_MAX, Position, ROWS_MAX, Size, SizeError};
use self::titles::Titles;
use crate::cluster_widths::ClusterWidths;

/// The cells and cursor of a terminal, on which both ends agree, and the modes that the user's terminal must follow.
///
/// Two screens are equal if they agree on everything that a diff can carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Screen {
    pub(crate) size: Size,
    pub(crate) cursor: Cursor,
    pub(crate) pen: Pen,
    /// The hyperlink and the underline's colour that the next printed character gets.
    pub(crate) decoration: Decoration,
    pub(crate) reverse_video: bool,
    pub(crate) input: InputModes,
    /// The modes that stock Mosh does not transfer.
    pub(crate) rich: RichModes,
    pub(crate) titles: Titles,
    pub(crate) colors: Arc<Colors>,
    /// The URI of the working directory. Empty if it is unknown.
    pub(crate) directory: Arc<str>,
    pub(crate) progress: Option<Progress>,
    /// The base64 text last copied to the clipboard (OSC 52), unless it was too long for a stock Mosh client.
    pub(crate) clipboard: Arc<str>,
    /// The number of bells so far. Screens with different numbers differ, but a diff rings only once.
    pub(crate) bells: u64,
    /// The kinds of clusters that occupy a single cell when text is printed.
    pub(crate) cluster_widths: ClusterWidths,
    /// The rows, from the top. Two rows that share memory are equal without a comparison of their cells.
    pub(crate) rows: Vec<Arc<Row>>,
}

impl Screen {
    /// Creates a blank screen of a size.
    pub fn blank(size: Size) -> Self {
        let blank = Arc::new(Row::erased(size.columns(), Pen::default()));
        Self {
            size,
            rows: vec![blank; usize::from(size.rows())],
            cursor: Cursor { row: 0, column: 0, visible: true },
            pen: Pen::default(),
            decoration: Decoration::default(),
            reverse_video: false,
            input: InputModes::default(),
            rich: RichModes::default(),
            titles: Titles::default(),
            colors: Arc::default(),
            directory: "".into(),
            progress: None,
            clipboard: "".into(),
            bells: 0,
            cluster_widths: ClusterWidths::CODE_POINTS,
        }
    }

    /// Returns the size in columns and rows.
    pub const fn size(&self) -> Size {
        self.size
    }

    /// Returns row `row`, or `None` if the screen has no such row.
    pub fn row(&self, row: u16) -> Option<&Row> {
        self.rows.get(usize::from(row)).map(|row| &**row)
    }

    /// Returns the position and visibility of the cursor.
    pub const fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Returns the pen (colours and attributes) that the next printed character gets.
    pub const fn pen(&self) -> Pen {
        self.pen
    }

    /// Returns the decoration (hyperlink and colour of the underline) that the next printed character gets.
    pub const fn decoration(&self) -> &Decoration {
        &self.decoration
    }

    /// Returns whether foreground and background are exchanged everywhere (DECSCNM).
    pub const fn reverse_video(&self) -> bool {
        self.reverse_video
    }

    /// Returns the input modes that stock Mosh transfers.
    pub const fn input_modes(&self) -> InputModes {
        self.input
    }

    /// Returns the modes that stock Mosh does not transfer.
    pub const fn rich_modes(&self) -> RichModes {
        self.rich
    }

    /// Returns whether a program has ever set a title or icon name.
    pub const fn titled(&self) -> bool {
        self.titles.given
    }

    /// Returns the window title. Empty if no program has set it.
    pub fn title(&self) -> &str {
        &self.titles.title
    }

    /// Returns the icon name. Empty if no program has set it.
    pub fn icon_name(&self) -> &str {
        &self.titles.icon_name
    }

    /// Returns the colours that programs have set.
    pub fn colors(&self) -> &Colors {
        &self.colors
    }

    /// Returns the address of the working directory, usually a `file` URI. Empty if no program has set it.
    pub fn directory(&self) -> &str {
        &self.directory
    }

    /// Returns the progress bar of a program. `None` if no program reports progress.
    pub const fn progress(&self) -> Option<Progress> {
        self.progress
    }

    /// Returns the base64 text that was last copied to the clipboard (OSC 52). Omits text that is too long for a stock
    /// Mosh client, and text for other selections, which [`crate::Terminal::take_copied`] returns.
    pub const fn clipboard(&self) -> &Arc<str> {
        &self.clipboard
    }

    /// Returns the kinds of clusters that occupy a single cell when text is printed.
    pub const fn cluster_widths(&self) -> ClusterWidths {
        self.cluster_widths
    }

    /// Returns the number of bells so far.
    pub const fn bells(&self) -> u64 {
        self.bells
    }

    /// Returns the text of row `row` as a person sees it, without blanks at its end. Empty below the screen.
    pub fn row_text(&self, row: u16) -> String {
        let Some(row) = self.row(row) else { return String::new() };
        let mut text = String::new();
        let mut covered = false;
        for (column, cell) in (0u16..).zip(row.cells()) {
            if !core::mem::replace(&mut covered, cell.wide) {
                let blank = if cell.combined { '\u{a0}' } else { ' ' };
                text.push(cell.base.unwrap_or(blank));
                text.push_str(row.marks(column));
            }
        }
        text.truncate(text.trim_end_matches(' ').len());
        text
    }

    /// Panics if a row has half a wide character or marks without their cell, or the cursor is outside of the screen.
    pub(crate) fn assert_integrity(&self) {
        assert_eq!(self.rows.len(), usize::from(self.size.rows()));
        assert!(self.cursor.row < self.size.rows() && self.cursor.column < self.size.columns());
        for (index, row) in self.rows.iter().enumerate() {
            let checked = index > 0 && Arc::ptr_eq(row, &self.rows[index - 1]);
            if !checked {
                assert_eq!(row.columns(), self.size.columns());
                row.assert_integrity();
            }
        }
    }
}
