//! Draws predictions over a copy of the screen.

use rove_terminal::{Glyph, Position, Screen, Underline};

/// The predicted content of one cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Whether the character is unknown. The cell then keeps its old character, which may be underlined.
    pub is_unknown: bool,
    /// The predicted glyph.
    pub glyph: Glyph,
}

/// Draws a prediction over a cell, underlined if `underlines` is true. The caller must then repair wide characters of
/// which one half was overwritten ([`Screen::mend_row`]).
pub fn lay(frame: &mut Screen, at: Position, content: &Content, underlines: bool) {
    let Some(shown) = frame.glyph(at) else { return };
    let is_blank = content.glyph.is_blank() && shown.is_blank();
    let underlines = underlines && !is_blank;
    if content.is_unknown {
        // An unknown character in the last column may as well leave the screen as stay. So it is not underlined.
        if underlines && at.column + 1 != frame.size().columns() {
            frame.put(at, &underlined(shown));
        }
    } else if content.glyph != shown {
        let glyph = content.glyph.clone();
        frame.put(at, &if underlines { underlined(glyph) } else { glyph });
    }
}

fn underlined(mut glyph: Glyph) -> Glyph {
    let cell = &mut glyph.cell;
    if !cell.combined {
        // An empty cell cannot be underlined.
        cell.base.get_or_insert(' ');
    }
    cell.pen.attributes = cell.pen.attributes.underlined(Underline::Straight);
    glyph
}

#[cfg(test)]
mod tests {
    use rove_terminal::{Cell, Size};

    use super::*;

    fn glyph(base: char) -> Glyph {
        Glyph { cell: Cell { base: Some(base), ..Cell::default() }, ..Glyph::default() }
    }

    /// Lays `over` (`None`: an unknown character) at `column` of the row `ab d`. Returns the character there
    /// afterwards, and whether it is underlined.
    fn laid(column: u16, over: Option<char>, underlines: bool) -> (Option<char>, bool) {
        let mut frame = Screen::blank(Size::new(4, 1).unwrap());
        for (column, c) in (0..).zip("abcd".chars()) {
            frame.put(Position { row: 0, column }, &glyph(c));
        }
        frame.put(Position { row: 0, column: 2 }, &glyph(' '));
        let content = match over {
            Some(c) => Content { is_unknown: false, glyph: glyph(c) },
            None => Content { is_unknown: true, ..Content::default() },
        };
        let at = Position { row: 0, column };
        lay(&mut frame, at, &content, underlines);
        let cell = frame.glyph(at).unwrap().cell;
        (cell.base, cell.pen.attributes.underline() != Underline::None)
    }

    #[test]
    fn only_what_differs_or_is_unknown_is_marked_and_never_a_blank() {
        for (column, over, expected) in [
            (0, Some('x'), (Some('x'), true)),
            (0, Some('a'), (Some('a'), false)),
            (0, Some(' '), (Some(' '), true)),
            (2, Some('x'), (Some('x'), true)),
            (2, Some('\u{a0}'), (Some('\u{a0}'), false)),
            (0, None, (Some('a'), true)),
            (2, None, (Some(' '), false)),
            (3, None, (Some('d'), false)),
        ] {
            assert_eq!(laid(column, over, true), expected, "{over:?} at {column}");
            assert_eq!(laid(column, over, false), (expected.0, false), "{over:?} at {column}");
        }
    }

    #[test]
    fn nothing_is_laid_outside_the_screen() {
        let mut frame = Screen::blank(Size::new(4, 1).unwrap());
        let content = Content { is_unknown: false, glyph: glyph('x') };
        for (row, column) in [(1, 0), (0, 4), (u16::MAX, u16::MAX)] {
            lay(&mut frame, Position { row, column }, &content, true);
        }
        assert_eq!(frame, Screen::blank(Size::new(4, 1).unwrap()));
    }
}
