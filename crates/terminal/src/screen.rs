//! The picture: everything two ends must agree on. A clone costs a reference count a row.

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
use self::mode::{InputModes, MouseEncoding, MouseReporting, RichModes};
use self::palette::Colors;
use self::progress::Progress;
use self::row::Row;
pub use self::size::{COLUMNS_MAX, Position, ROWS_MAX, Size, SizeError};
use self::titles::Titles;
use crate::cluster_widths::ClusterWidths;

/// The picture two ends agree on, and what the user's terminal must follow with it.
#[derive(Clone, Debug)]
pub struct Screen {
    pub(crate) size: Size,
    pub(crate) rows: Vec<Arc<Row>>,
    pub(crate) cursor: Cursor,
    pub(crate) pen: Pen,
    /// What the next character gets beside its pen.
    pub(crate) decoration: Decoration,
    pub(crate) reverse_video: bool,
    pub(crate) input: InputModes,
    /// What a stock client knows nothing of.
    pub(crate) rich: RichModes,
    pub(crate) titles: Titles,
    pub(crate) colors: Arc<Colors>,
    /// The address of the working directory; empty if it is not known.
    pub(crate) directory: Arc<str>,
    pub(crate) progress: Option<Progress>,
    /// The base64 text last copied to the clipboard (OSC 52), validated, as far as a stock client
    /// takes it.
    pub(crate) clipboard: Arc<str>,
    /// How often the bell rang. Compared, but a diff rings once.
    pub(crate) bells: u64,
    /// Which clusters what is printed next is counted by.
    pub(crate) cluster_widths: ClusterWidths,
}

impl Screen {
    /// Creates a blank screen.
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

    /// Returns what the next character would be painted with.
    pub const fn pen(&self) -> Pen {
        self.pen
    }

    /// Returns what the next character would get beside its pen.
    pub const fn decoration(&self) -> &Decoration {
        &self.decoration
    }

    /// Returns whether foreground and background are exchanged everywhere (DECSCNM).
    pub const fn reverse_video(&self) -> bool {
        self.reverse_video
    }

    /// Returns whether pasted text is to be bracketed.
    pub const fn bracketed_paste(&self) -> bool {
        self.input.bracketed_paste
    }

    /// Returns whether gaining and losing focus is to be reported.
    pub const fn focus_reporting(&self) -> bool {
        self.input.focus_reporting
    }

    /// Returns which mouse events are to be reported.
    pub const fn mouse_reporting(&self) -> MouseReporting {
        self.input.mouse_reporting
    }

    /// Returns how mouse events are to be written.
    pub const fn mouse_encoding(&self) -> MouseEncoding {
        self.input.mouse_encoding
    }

    /// Returns the style of the cursor as DECSCUSR numbers them, 0 to 6: 0 is the terminal's own.
    pub const fn cursor_style(&self) -> u8 {
        self.rich.cursor_style
    }

    /// Returns whether cursor keys are to be sent in application form (DECCKM).
    pub const fn application_cursor_keys(&self) -> bool {
        self.rich.application_cursor_keys
    }

    /// Returns whether the keypad is to send application sequences (DECNKM).
    pub const fn application_keypad(&self) -> bool {
        self.rich.application_keypad
    }

    /// Returns whether the alternate screen is shown.
    pub const fn alternate_screen(&self) -> bool {
        self.rich.alternate_screen
    }

    /// Returns whether the wheel is to send cursor keys on the alternate screen (mode 1007); `None` as
    /// long as no program has said.
    pub const fn alternate_scroll(&self) -> Option<bool> {
        self.rich.alternate_scroll
    }

    /// Returns the flags in force of the keyboard protocol of kitty, 0 to 31.
    pub const fn kitty_keyboard(&self) -> u8 {
        self.rich.kitty_keyboard
    }

    /// Returns the level of modifyOtherKeys, 0 to 2.
    pub const fn modify_other_keys(&self) -> u8 {
        self.rich.modify_other_keys
    }

    /// Returns whether a title or icon name was ever set.
    pub const fn titled(&self) -> bool {
        self.titles.given
    }

    /// Returns the window title.
    pub fn title(&self) -> &str {
        &self.titles.title
    }

    /// Returns the icon name.
    pub fn icon_name(&self) -> &str {
        &self.titles.icon_name
    }

    /// Returns the colours that programs have set.
    pub fn colors(&self) -> &Colors {
        &self.colors
    }

    /// Returns the address of the working directory, of the scheme `file` mostly; empty if no program
    /// told it.
    pub fn directory(&self) -> &str {
        &self.directory
    }

    /// Returns how far a program has come, if it says so.
    pub const fn progress(&self) -> Option<Progress> {
        self.progress
    }

    /// Returns what was copied to the clipboard last, in base64. Longer text than a stock client takes,
    /// and other selections, are told by [`crate::Terminal::take_copied`] only.
    pub fn clipboard(&self) -> &str {
        &self.clipboard
    }

    /// Returns which clusters what is printed next is counted by.
    pub const fn cluster_widths(&self) -> ClusterWidths {
        self.cluster_widths
    }

    /// Returns how often the bell rang.
    pub const fn bells(&self) -> u64 {
        self.bells
    }

    /// Returns the text of row `row` as a person sees it, without the blanks at its end.
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

    /// Panics if a row breaks the rules of wide and combining characters, or the cursor is outside.
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

/// Compares everything a diff can carry. That a title was set matters only once there is one.
impl PartialEq for Screen {
    fn eq(&self, other: &Self) -> bool {
        self.size == other.size
            && self.cursor == other.cursor
            && self.pen == other.pen
            && self.decoration == other.decoration
            && self.reverse_video == other.reverse_video
            && self.input == other.input
            && self.rich == other.rich
            && self.titles.icon_name == other.titles.icon_name
            && self.titles.title == other.titles.title
            && self.colors == other.colors
            && self.directory == other.directory
            && self.progress == other.progress
            && self.clipboard == other.clipboard
            && self.bells == other.bells
            && self.cluster_widths == other.cluster_widths
            && self.rows.iter().zip(&other.rows).all(|(a, b)| same_row(a, b))
    }
}

impl Eq for Screen {}

/// Returns whether two rows show the same; the same object needs no look inside.
pub(crate) fn same_row(a: &Arc<Row>, b: &Arc<Row>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}
