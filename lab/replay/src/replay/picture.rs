//! Screens in a form that is cheap to compare: rows, texts and places as numbers.

use std::collections::BTreeMap;
use std::sync::Arc;

use rove_terminal::{Attributes, Cell, Color, Pen, Position, Row, Screen, Underline};

/// The glyph of a cell without text.
pub(crate) const BLANK: Glyph = Glyph(' ' as u32);
/// The right half of a wide character.
const HALF: Glyph = Glyph(0);
/// From this number on, a glyph is the number of a text with combining characters.
const COMBINED: u32 = 1 << 31;

/// The text of one cell as a number. An empty cell and a space have the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Glyph(u32);

/// The text of a row as a number. Rows with the same text have the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TextId(u32);

/// The colours and attributes of a row, without underlines, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PaintId(u32);

/// The text of a screen and the place of its cursor as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PictureId(u32);

/// A screen as a judge sees it.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    /// The number of text and cursor: equal for screens with the same text and the cursor at the same place.
    pub(crate) id: PictureId,
    pub(crate) texts: Vec<TextId>,
    pub(crate) paints: Vec<PaintId>,
    /// Where the cursor is, hidden or not: programs that draw a cursor of their own hide the terminal's at the place
    /// where they take text.
    pub(crate) cursor: Position,
    /// The screen itself. It keeps the rows in memory, so that an unchanged row is known by its address.
    screen: Screen,
}

impl Picture {
    /// Returns the screen from which this picture was made.
    pub(crate) fn screen(&self) -> &Screen {
        &self.screen
    }

    /// Returns whether the cursor is visible.
    pub(crate) fn shows_cursor(&self) -> bool {
        self.screen.cursor().visible
    }
}

/// The numbers given so far to texts, paints and pictures.
#[derive(Clone, Debug, Default)]
pub(crate) struct Album {
    text_ids: BTreeMap<Arc<[Glyph]>, TextId>,
    texts: Vec<Arc<[Glyph]>>,
    paint_ids: BTreeMap<Arc<[Paint]>, PaintId>,
    paints: Vec<Arc<[Paint]>>,
    pictures: BTreeMap<PictureKey, PictureId>,
    combined: BTreeMap<String, u32>,
    cells: usize,
}

/// The texts of a screen and where its cursor is, row first.
type PictureKey = (Vec<TextId>, (u16, u16));

/// The visible part of a pen: foreground, background, attributes.
pub(crate) type Paint = (u32, u32, u8);

impl Album {
    /// Returns the picture of a screen. Rows that it shares with the picture `before` cost next to nothing.
    pub(crate) fn look(&mut self, screen: &Screen, before: Option<&Picture>) -> Picture {
        let rows = screen.size().rows();
        let (mut texts, mut paints) = (Vec::new(), Vec::new());
        texts.reserve_exact(rows.into());
        paints.reserve_exact(rows.into());
        for (index, number) in (0..rows).enumerate() {
            let row = screen.row(number).expect("a screen has all its rows");
            let known = before.filter(|before| {
                before.screen.row(number).is_some_and(|old| core::ptr::eq(old, row))
            });
            let (text, paint) = match known {
                Some(before) => (before.texts[index], before.paints[index]),
                None => (self.text(row), self.paint(row)),
            };
            texts.push(text);
            paints.push(paint);
        }
        let cursor = screen.cursor().position();
        let number = PictureId(index(self.pictures.len()));
        let key = (texts.clone(), (cursor.row, cursor.column));
        let id = *self.pictures.entry(key).or_insert(number);
        Picture { id, texts, paints, cursor, screen: screen.clone() }
    }

    /// Returns the number of cells of all rows in the album. Equal rows count once.
    pub(crate) fn cells(&self) -> usize {
        self.cells
    }

    /// Returns the cells of a text.
    pub(crate) fn glyphs(&self, text: TextId) -> &[Glyph] {
        &self.texts[text.0 as usize]
    }

    /// Returns the pens of a row.
    pub(crate) fn pens(&self, paint: PaintId) -> &[Paint] {
        &self.paints[paint.0 as usize]
    }

    fn text(&mut self, row: &Row) -> TextId {
        let mut glyphs = Vec::with_capacity(row.cells().len());
        let mut is_half = false;
        for (column, cell) in (0..).zip(row.cells()) {
            let glyph = if is_half { HALF } else { self.glyph(row, column, cell) };
            is_half = cell.wide;
            glyphs.push(glyph);
        }
        if let Some(id) = self.text_ids.get(glyphs.as_slice()) {
            return *id;
        }
        self.cells += glyphs.len();
        let (id, glyphs) = (TextId(index(self.texts.len())), Arc::<[Glyph]>::from(glyphs));
        self.texts.push(Arc::clone(&glyphs));
        self.text_ids.insert(glyphs, id);
        id
    }

    fn glyph(&mut self, row: &Row, column: u16, cell: &Cell) -> Glyph {
        if !cell.combined {
            return cell.base.map_or(BLANK, |base| Glyph(base.into()));
        }
        let mut text: String = cell.base.into_iter().collect();
        text.push_str(row.marks(column));
        let number = COMBINED | index(self.combined.len());
        Glyph(*self.combined.entry(text).or_insert(number))
    }

    fn paint(&mut self, row: &Row) -> PaintId {
        let pens: Vec<Paint> = row.cells().iter().map(visible_pen).collect();
        if let Some(id) = self.paint_ids.get(pens.as_slice()) {
            return *id;
        }
        self.cells += pens.len();
        let (id, pens) = (PaintId(index(self.paints.len())), Arc::<[Paint]>::from(pens));
        self.paints.push(Arc::clone(&pens));
        self.paint_ids.insert(pens, id);
        id
    }
}

/// Returns the visible part of a cell's pen. Underlines are left out, because predictions are underlined.
fn visible_pen(cell: &Cell) -> Paint {
    let Pen { foreground, background, attributes } = cell.pen;
    let mut attributes = attributes.underlined(Underline::None);
    let is_blank = !cell.combined && matches!(cell.base, None | Some(' '));
    if is_blank && !attributes.contains(Attributes::INVERSE) {
        let seen = Attributes::STRIKE.with(Attributes::OVERLINE);
        attributes = attributes.intersection(seen);
        if attributes == Attributes::NONE {
            return (0, color(background), 0);
        }
    }
    let bits = [
        Attributes::BOLD,
        Attributes::ITALIC,
        Attributes::BLINK,
        Attributes::INVERSE,
        Attributes::INVISIBLE,
        Attributes::FAINT,
        Attributes::STRIKE,
        Attributes::OVERLINE,
    ];
    let set = bits.iter().rev().fold(0, |set, bit| set << 1 | u8::from(attributes.contains(*bit)));
    (color(foreground), color(background), set)
}

fn color(color: Color) -> u32 {
    match color {
        Color::Default => 0,
        // Stock Mosh does not tell named from indexed colours.
        Color::Named(index) | Color::Indexed(index) => 1 << 24 | u32::from(index),
        Color::Rgb(red, green, blue) => u32::from_be_bytes([2, red, green, blue]),
    }
}

fn index(len: usize) -> u32 {
    u32::try_from(len).expect("a replay draws fewer than 2^32 different rows")
}

#[cfg(test)]
mod tests {
    use rove_terminal::{Size, Terminal};

    use super::*;

    fn terminal(text: &str) -> Terminal {
        let mut terminal = Terminal::host(Size::clamped(10, 2));
        terminal.write(text.as_bytes());
        terminal
    }

    #[test]
    fn text_and_cursor_make_a_picture_and_paint_does_not() {
        let mut album = Album::default();
        let mut look = |text| album.look(terminal(text).screen(), None);
        let plain = look("ab");
        for (text, is_same) in [
            ("\x1b[4;31mab", true),
            ("ab \x08", true),
            ("ab\x1b[2;1Hx\x08 \x1b[1;3H", true),
            ("ab ", false),
            ("aB", false),
            ("ab\x1b[?25l", true),
            ("ab\x1b[?25l\x1b[2;1H", false),
            ("ab\x1b[2;1Hx\x1b[1;3H", false),
            ("a\u{301}b", false),
        ] {
            assert_eq!(look(text).id == plain.id, is_same, "{}", text.escape_debug());
        }
        assert_eq!(look("a\u{301}b").id, look("a\u{301}b").id);
        assert_ne!(look("a\u{301}b").id, look("a\u{302}b").id);
        assert_ne!(look("\u{4e00}").id, look("\u{4e00} ").id);
    }

    #[test]
    fn paint_tells_colours_and_attributes_but_no_underlines() {
        let mut album = Album::default();
        let mut paint = |text| album.look(terminal(text).screen(), None).paints[0];
        let plain = paint("ab");
        for (text, is_same) in [
            ("\x1b[4mab", true),
            ("\x1b[4:3;58;5;1mab", true),
            ("ab\x1b[1;31m ", true),
            ("\x1b[31mab", false),
            ("\x1b[1mab", false),
            ("ab\x1b[7m ", false),
            ("ab\x1b[41m ", false),
            ("ab\x1b[9m ", false),
        ] {
            assert_eq!(paint(text) == plain, is_same, "{}", text.escape_debug());
        }
    }

    #[test]
    fn what_has_not_changed_keeps_its_numbers() {
        let mut album = Album::default();
        let mut terminal = terminal("one\r\ntwo");
        let before = album.look(&terminal.snapshot(), None);
        terminal.write(b"!");
        let after = album.look(&terminal.snapshot(), Some(&before));
        assert_eq!(after.texts[0], before.texts[0]);
        assert_ne!(after.texts[1], before.texts[1]);
        assert_eq!(after.id, album.look(terminal.screen(), None).id);
        assert_eq!(album.glyphs(after.texts[1])[3], Glyph('!'.into()));
    }
}
