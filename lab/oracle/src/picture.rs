//! A picture of a screen, in a common form for all emulators.
//!
//! Emulators report the same visible screen in different ways. A picture has a single form:
//!
//! | | here |
//! |---|---|
//! | an empty cell, a space, a cell passed by a tab (`alacritty_terminal` keeps the tab) | a space |
//! | the foreground and the attributes of an empty cell in `vt100` | none: nothing shows them |
//! | a named colour, which `vt100` does not tell from the same one by number | by number |
//! | the right half of a wide character | empty text in default colours |
//! | the cell that a wide character did not fit into | a space in the background |
//! | the cursor while a wrap is pending (`vt100`: behind the last column) | in the last column |
//! | blinking; invisible text, which `vt100` does not know; what a screen of ours cannot carry | left out |

use core::fmt;

use rove_terminal::{Attributes, Color, Pen, Underline};

/// The visible content of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look {
    /// The base character and its combining marks.
    pub text: String,
    /// The colours, and the attributes that the emulator has.
    pub pen: Pen,
    /// Whether this is the left half of a wide character.
    pub wide: bool,
}

impl Look {
    /// Returns the content of a wide character's right half.
    pub(crate) fn right_half() -> Self {
        Self { text: String::new(), pen: Pen::default(), wide: false }
    }

    /// Returns whether this is the content of a wide character's right half.
    pub(crate) fn is_right_half(&self) -> bool {
        self.text.is_empty()
    }
}

/// A screen's cells, row by row, and its cursor.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    /// Rows of cells.
    pub rows: Vec<Vec<Look>>,
    /// Row and column of the cursor.
    pub cursor: (u16, u16),
    /// Whether the last column was written, so that the next character wraps first.
    pub pending_wrap: bool,
    /// Whether the cursor is visible.
    pub cursor_visible: bool,
}

impl Picture {
    /// Returns the picture without attributes that are not in `known`. If `underlines` is false, all kinds of
    /// underlines become the same kind.
    #[must_use]
    pub fn limited_to(mut self, known: Attributes, underlines: bool) -> Self {
        for look in self.rows.iter_mut().flatten() {
            for attribute in ATTRIBUTES {
                if !known.contains(attribute) {
                    look.pen.attributes = look.pen.attributes.without(attribute);
                }
            }
            if !underlines && look.pen.attributes.underline() != Underline::None {
                look.pen.attributes = look.pen.attributes.underlined(Underline::Straight);
            }
        }
        self
    }

    /// Returns whether the cell at `column` of `row` is the right half of a wide character. Returns false beyond the
    /// last column.
    pub fn is_right_half(&self, row: u16, column: u16) -> bool {
        let row = self.rows.get(usize::from(row));
        row.and_then(|row| row.get(usize::from(column))).is_some_and(Look::is_right_half)
    }

    /// Returns whether a row contains a wide character.
    pub fn has_wide(&self, row: u16) -> bool {
        self.rows.get(usize::from(row)).is_some_and(|row| row.iter().any(|look| look.wide))
    }
}

/// The attributes that are compared.
pub(crate) const ATTRIBUTES: [Attributes; 8] = [
    Attributes::BOLD,
    Attributes::ITALIC,
    Attributes::FAINT,
    Attributes::STRIKE,
    Attributes::OVERLINE,
    Attributes::BLINK,
    Attributes::INVERSE,
    Attributes::INVISIBLE,
];

/// Prints the text and every coloured cell, for messages of failed tests.
impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cursor, pending_wrap, cursor_visible, .. } = self;
        writeln!(f, "cursor {cursor:?}, wraps: {pending_wrap}, shown: {cursor_visible}")?;
        for row in &self.rows {
            let text: String = row.iter().map(|look| look.text.as_str()).collect();
            write!(f, "|{text}|")?;
            for (column, look) in row.iter().enumerate().filter(|(_, l)| l.pen != Pen::default()) {
                let Pen { foreground, background, attributes } = look.pen;
                write!(f, " {column}:{}/{}", short(foreground), short(background))?;
                if attributes != Attributes::NONE {
                    write!(f, "{attributes:?}")?;
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

fn short(color: Color) -> String {
    match color {
        Color::Default => "-".to_owned(),
        Color::Named(n) | Color::Indexed(n) => n.to_string(),
        Color::Rgb(r, g, b) => format!("#{r:02x}{g:02x}{b:02x}"),
    }
}
