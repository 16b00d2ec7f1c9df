//! The state of a terminal that decides whether a function has another effect in another emulator.

use rove_terminal::{Color, Size, char_width};

use crate::function::Function;
use crate::picture::Picture;

/// The state before a function, as ours has it.
#[derive(Debug)]
pub struct Context {
    /// The content of the screen.
    pub picture: Picture,
    /// The dimensions of the screen.
    pub size: Size,
    /// The background that erasing leaves.
    pub background: Color,
    /// Top and bottom margin, from 0, both inclusive.
    pub margins: (u16, u16),
    /// Whether rows ever counted from the top margin: DECRC may bring that back.
    pub origin_used: bool,
    /// Whether printing shifts the rest of the row.
    pub insert: bool,
    /// Whether text goes on in the next row.
    pub autowrap: bool,
    /// Whether the alternate screen is shown.
    pub alternate: bool,
    /// Whether a set other than G0 was ever locked in.
    pub shifted: bool,
    /// Whether a tab stop was set or cleared.
    pub tabs_changed: bool,
    /// The character that REP repeats, if the last text ended with it and it means the same.
    pub repeatable: Option<char>,
}

impl Context {
    /// Returns that of a blank terminal.
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

    /// Follows a function that both terminals have taken; `picture` and `background` are those after.
    pub fn follow(&mut self, function: &Function, picture: Picture, background: Color) {
        match *function {
            Function::Text(ref text) => {
                self.repeatable = text.chars().next_back().filter(|&c| char_width(c) > 0);
            }
            Function::Control(b'\x0e') => (self.shifted, self.repeatable) = (true, None),
            Function::Control(b'\x0f') => self.repeatable = None,
            Function::Escape("c") => *self = Self::blank(self.size, picture.clone()),
            Function::Escape("H") | Function::Csi(b'g', ..) => self.tabs_changed = true,
            // Designations, and what may restore one.
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

    /// Returns whether these margins, from 1, are a region at all.
    pub fn leaves_two_rows(&self, top: u16, bottom: u16) -> bool {
        0 < top && top < bottom.min(self.size.rows())
    }

    /// Returns whether the margins are those of the whole screen.
    pub fn is_open(&self) -> bool {
        self.margins == (0, self.size.rows() - 1)
    }

    /// Returns the row of the cursor.
    pub fn row(&self) -> u16 {
        self.picture.cursor.0
    }

    /// Returns the column of the cursor.
    pub fn column(&self) -> u16 {
        self.picture.cursor.1
    }

    /// Returns whether the next character wraps first.
    pub fn is_pending(&self) -> bool {
        self.picture.pending_wrap
    }

    /// Returns what a function prints, if it prints.
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

    /// Returns whether text does not fit between the cursor and the end of the row.
    pub fn overflows(&self, text: &str) -> bool {
        let width: u16 = text.chars().map(char_width).sum();
        self.is_pending() || self.column() + width > self.size.columns()
    }

    /// Returns whether what a function prints may meet a wide character: one that is there, or one of
    /// its own when the last row, outside the margins, is printed again and again.
    pub fn overwrites_wide(&self, function: &Function) -> bool {
        let meets_itself =
            |text: &str| self.row() > self.margins.1 && has_wide(text) && self.overflows(text);
        self.printed(function).is_some_and(|text| self.has_wide_ahead() || meets_itself(&text))
    }

    /// Returns whether there is a wide character in the row of the cursor or below.
    pub fn has_wide_ahead(&self) -> bool {
        (self.row()..self.size.rows()).any(|row| self.picture.has_wide(row))
    }

    /// Returns whether an erasing, inserting or deleting function has an edge within a wide character.
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

/// Returns whether text has a wide character.
pub(crate) fn has_wide(text: &str) -> bool {
    text.chars().any(|c| char_width(c) == 2)
}
