//! The state of a terminal that determines whether a function has the same effect in all emulators.

use rove_terminal::{Color, Size, char_width};

use crate::function::Function;
use crate::picture::Picture;

/// The state of our terminal directly before a function.
#[derive(Debug)]
pub struct Context {
    /// The cells of the screen, and the cursor.
    pub picture: Picture,
    /// The size of the screen.
    pub size: Size,
    /// The background colour of erased cells.
    pub background: Color,
    /// The first and the last row of the scrolling region, counted from 0.
    pub margins: (u16, u16),
    /// Whether rows were ever counted from the top margin (DECOM). If so, DECRC may restore that mode.
    pub origin_used: bool,
    /// Whether a printed character shifts the rest of its row to the right (IRM).
    pub insert: bool,
    /// Whether text beyond the last column continues in the next row (DECAWM).
    pub autowrap: bool,
    /// Whether the alternate screen is shown.
    pub alternate: bool,
    /// Whether the character set G1 was ever selected (SO).
    pub shifted: bool,
    /// Whether a tab stop was ever set or cleared.
    pub tabs_changed: bool,
    /// The character that REP repeats. `None` if emulators may differ about it, as after a function other than text.
    pub repeatable: Option<char>,
}

impl Context {
    /// Returns the context of a blank terminal.
    pub fn blank(size: Size, picture: Picture) -> Self {
        Self {
            picture,
            size,
            background: Color::Default,
            margins: (0, size.rows() - 1),
            origin_used: false,
            insert: false,
            autowrap: true,
            alternate: false,
            shifted: false,
            tabs_changed: false,
            repeatable: None,
        }
    }

    /// Updates the context after a function that both emulators executed, with the new `picture` and `background`.
    pub fn follow(&mut self, function: &Function, picture: Picture, background: Color) {
        match *function {
            Function::Text(ref text) => {
                self.repeatable = text.chars().next_back().filter(|&c| char_width(c) > 0);
            }
            Function::Control(b'\x0e') => (self.shifted, self.repeatable) = (true, None),
            Function::Control(b'\x0f') => self.repeatable = None,
            Function::Escape("c") => *self = Self::blank(self.size, picture.clone()),
            Function::Escape("H") | Function::Csi(b'g', ..) => self.tabs_changed = true,
            // These functions may change character sets, or restore an earlier one.
            Function::Escape(_) | Function::Csi(b'u', ..) => self.repeatable = None,
            Function::Margins(top, bottom) if self.leaves_two_rows(top, bottom) => {
                self.margins = (top - 1, bottom.min(self.size.rows()) - 1);
            }
            Function::Origin(set) => self.origin_used |= set,
            Function::Autowrap(set) => self.autowrap = set,
            Function::Insert(set) => self.insert = set,
            Function::Alternate(set) => (self.alternate, self.repeatable) = (set, None),
            _ => {}
        }
        self.picture = picture;
        self.background = background;
    }

    /// Returns whether a scrolling region between these margins, which count from 1, has at least two rows.
    pub fn leaves_two_rows(&self, top: u16, bottom: u16) -> bool {
        0 < top && top < bottom.min(self.size.rows())
    }

    /// Returns whether the scrolling region is the whole screen.
    pub fn is_open(&self) -> bool {
        self.margins == (0, self.size.rows() - 1)
    }

    /// Returns the cursor's row.
    pub fn row(&self) -> u16 {
        self.picture.cursor.0
    }

    /// Returns the cursor's column.
    pub fn column(&self) -> u16 {
        self.picture.cursor.1
    }

    /// Returns whether a wrap is pending, so that the next character goes to the next row.
    pub fn is_pending(&self) -> bool {
        self.picture.pending_wrap
    }

    /// Returns the text that a function prints, or `None` if it prints nothing.
    pub fn printed(&self, function: &Function) -> Option<String> {
        match function {
            Function::Text(text) => Some(text.clone()),
            Function::Csi(b'b', count, _) => {
                let c = self.repeatable?;
                Some(core::iter::repeat_n(c, usize::from((*count).max(1))).collect())
            }
            _ => None,
        }
    }

    /// Returns whether a text is too wide for the columns between the cursor and the end of the row.
    pub fn overflows(&self, text: &str) -> bool {
        let width: u16 = text.chars().map(char_width).sum();
        self.is_pending() || self.column() + width > self.size.columns()
    }

    /// Returns whether a printed text may overwrite a wide character. The character may be on the screen. It may also
    /// be in the text itself, if a long text fills the last row outside the margins repeatedly.
    pub fn overwrites_wide(&self, function: &Function) -> bool {
        let meets_itself =
            |text: &str| self.row() > self.margins.1 && has_wide(text) && self.overflows(text);
        self.printed(function).is_some_and(|text| self.has_wide_ahead() || meets_itself(&text))
    }

    /// Returns whether there is a wide character in the cursor's row or in a row below.
    pub fn has_wide_ahead(&self) -> bool {
        (self.row()..self.size.rows()).any(|row| self.picture.has_wide(row))
    }

    /// Returns whether a function that erases, inserts or deletes would split a wide character.
    pub fn cuts_wide(&self, function: &Function) -> bool {
        let Function::Csi(last, first, _) = *function else { return false };
        let (here, columns, count) = (self.column(), self.size.columns(), first.max(1));
        let edges = match (last, first) {
            (b'J' | b'K', 0) => [here, here],
            (b'J' | b'K', 1) => [here + 1, here + 1],
            (b'X' | b'P', _) => [here, here + count],
            (b'@', _) => [here, columns.saturating_sub(count).max(here)],
            _ => return false,
        };
        edges.into_iter().any(|column| self.picture.is_right_half(self.row(), column))
    }
}

/// Returns whether a text contains a wide character.
pub(crate) fn has_wide(text: &str) -> bool {
    text.chars().any(|c| char_width(c) == 2)
}
