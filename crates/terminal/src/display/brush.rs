//! Bytes for the receiving terminal, and an account of the state they leave it in.

use std::sync::Arc;

use super::dialect::{Dialect, History};
use super::doubt::{is_cluster, is_narrowed, width_is_settled};
use super::modes::private_mode;
use super::motion::{Place, csi, push_number, write_motion};
use super::sgr::{Rendition, write_sgr};
use crate::screen::cell::{Cell, Pen, Underline};
use crate::screen::cursor::Cursor;
use crate::screen::decoration::{Decoration, Hyperlink};
use crate::screen::row::Row;
use crate::screen::{Position, Screen, Size};
use crate::width::char_width;

/// Most line feeds that scroll a replica whose cursor is on the bottom row already.
/// Chosen: what going to the top, deleting as many lines there and coming back takes.
const LINE_FEEDS_MAX: u16 = 10;

/// The receiving terminal as far as it decides which bytes come next.
#[derive(Clone, Debug)]
struct State {
    place: Place,
    /// Whether the cursor was ever moved from where the shown screen has it.
    moved: bool,
    rendition: Rendition,
    link: Option<Arc<Hyperlink>>,
    visible: bool,
}

/// Where to go back to.
#[derive(Clone, Debug)]
pub(super) struct Checkpoint {
    length: usize,
    state: State,
}

/// Writes bytes and keeps account of the cursor and the pen they leave.
#[derive(Clone, Debug)]
pub(super) struct Brush {
    out: Vec<u8>,
    pub(super) dialect: Dialect,
    pub(super) size: Size,
    state: State,
}

impl Brush {
    /// Creates a brush for a terminal that shows `shown`; its bytes go after those in `out`.
    pub(super) fn new(out: Vec<u8>, shown: &Screen, dialect: Dialect) -> Self {
        let cursor = shown.cursor;
        let state = State {
            place: shown_at(cursor, shown.size),
            moved: false,
            rendition: dialect.repertoire.rendition(shown.pen, &shown.decoration),
            // A frame on a real terminal leaves none open.
            link: shown
                .decoration
                .link
                .clone()
                .filter(|_| dialect.replica && dialect.repertoire.links),
            visible: cursor.visible,
        };
        Self { out, dialect, size: shown.size, state }
    }

    /// Makes the terminal blank, whatever is on it: full margins, default pen, cursor at home.
    pub(super) fn reset(&mut self, size: Size) {
        self.size = size;
        if !self.dialect.replica {
            private_mode(&mut self.out, 25, false);
            self.state.visible = false;
            // Others may have written to the terminal: normal character set, replace mode, autowrap,
            // origin mode off.
            self.out.extend(b"\x1b(B\x0f\x1b[4l\x1b[?7h\x1b[?6l");
        }
        self.link_to(None);
        self.out.extend(b"\x1b[r\x1b[m");
        self.out.extend(match self.dialect.history {
            History::Frames => b"\x1b[H\x1b[2J" as &[u8],
            // Terminals may take a screen that is erased at once for scrolled off, so the first row is erased
            // alone. On a screen of one row, the second row would be the first.
            History::FramesOnly | History::LinesOnly if size.rows() == 1 => b"\x1b[H\x1b[K",
            History::FramesOnly | History::LinesOnly => b"\x1b[2H\x1b[J\x1b[H\x1b[K",
        });
        self.state.place = HOME;
        self.state.moved = true;
        self.state.rendition = Rendition::default();
    }

    /// Returns how many bytes there are.
    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// Returns where to go back to.
    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint { length: self.out.len(), state: self.state.clone() }
    }

    /// Returns the bytes written since `checkpoint`.
    pub(super) fn since(&self, checkpoint: &Checkpoint) -> usize {
        self.out.len() - checkpoint.length
    }

    /// Takes back everything written since `checkpoint`, and returns the bytes.
    pub(super) fn rewind(&mut self, checkpoint: &Checkpoint) -> Vec<u8> {
        self.state = checkpoint.state.clone();
        self.out.split_off(checkpoint.length)
    }

    /// Writes again what [`Self::rewind`] took back; `end` is where that led.
    pub(super) fn replay(&mut self, bytes: &[u8], end: Checkpoint) {
        self.out.extend(bytes);
        self.state = end.state;
    }

    /// Returns where the cursor is.
    pub(super) fn place(&self) -> Place {
        self.state.place
    }

    /// Returns whether printing a cell of this pen and decoration needs no change first.
    pub(super) fn paints(&self, pen: Pen, decoration: &Decoration) -> bool {
        let repertoire = self.dialect.repertoire;
        self.state.rendition == repertoire.rendition(pen, decoration)
            && (!repertoire.links || self.state.link == decoration.link)
    }

    /// Moves the cursor.
    pub(super) fn go(&mut self, row: u16, column: u16) {
        let to = Position { row, column };
        if self.state.place == Place::At(to) {
            return;
        }
        self.hide();
        write_motion(&mut self.out, self.state.place, to);
        self.state.place = Place::At(to);
        self.state.moved = true;
    }

    /// Hides the cursor of a real terminal: it shall not be seen jumping about.
    fn hide(&mut self) {
        if self.state.visible && !self.dialect.replica {
            private_mode(&mut self.out, 25, false);
            self.state.visible = false;
        }
    }

    /// Takes up a pen and what goes with it.
    pub(super) fn paint_with(&mut self, pen: Pen, decoration: &Decoration) {
        let mut rendition = self.dialect.repertoire.rendition(pen, decoration);
        if pen.attributes.underline() == Underline::None {
            // Of no consequence, and back to the default costs bytes.
            rendition.underline_color = self.state.rendition.underline_color;
        }
        self.render_with(rendition);
        self.link_to(decoration.link.as_ref());
    }

    fn render_with(&mut self, rendition: Rendition) {
        write_sgr(&mut self.out, self.state.rendition, rendition);
        self.state.rendition = rendition;
    }

    /// Begins, changes or ends a hyperlink.
    fn link_to(&mut self, link: Option<&Arc<Hyperlink>>) {
        if !self.dialect.repertoire.links || self.state.link.as_ref() == link {
            return;
        }
        self.out.extend(b"\x1b]8;");
        if let Some(link) = link {
            if !link.id().is_empty() {
                self.out.extend(b"id=");
                self.out.extend(link.id().as_bytes());
            }
            self.out.push(b';');
            self.out.extend(link.uri().as_bytes());
        } else {
            self.out.push(b';');
        }
        self.out.extend(b"\x1b\\");
        self.state.link = link.cloned();
    }

    /// Takes up a pen that erases as `pen` would. A replica looks at the background alone; real
    /// terminals are known that erase with other attributes too.
    fn erase_with(&mut self, pen: Pen) {
        if !self.dialect.replica || pen.background != self.state.rendition.pen.background {
            self.paint_with(pen.erased(), Decoration::NONE);
        }
    }

    /// Returns whether erasing can leave cells as `pen` would erase them.
    pub(super) fn can_erase(&self, pen: Pen) -> bool {
        self.dialect.background_color_erase || pen.erased() == Pen::default()
    }

    /// Prints a cell at the cursor. Where an unsettled width leaves the cursor in doubt, it is
    /// placed absolutely before the next cell.
    pub(super) fn print(&mut self, cell: &Cell, marks: &str, decoration: &Decoration) {
        self.paint_with(cell.pen, decoration);
        let base = cell.base.unwrap_or('\u{a0}');
        if self.dialect.replica && is_cluster(cell, marks) {
            return self.print_cluster(base, cell, marks);
        }
        self.push(base);
        self.out.extend(marks.as_bytes());
        self.advance(cell.width(), width_is_settled(base) && marks.is_empty());
    }

    /// Prints a cell on a replica whose columns are not the sum of its code points' columns. The bytes state the columns (OSC 66, the
    /// text sizing protocol of kitty). A replica that does not know OSC 66 gets a similar text of as many columns.
    fn print_cluster(&mut self, base: char, cell: &Cell, marks: &str) {
        if self.dialect.clusters {
            self.out.extend(format!("\x1b]66;w={};{base}{marks}\x07", cell.width()).bytes());
        } else if is_narrowed(cell) {
            self.push(char::REPLACEMENT_CHARACTER);
        } else {
            self.push(base);
            marks.chars().filter(|mark| char_width(*mark) == 0).for_each(|mark| self.push(mark));
            (char_width(base)..cell.width()).for_each(|_| self.push(' '));
        }
        self.advance(cell.width(), false);
    }

    /// Prints `count` spaces with the present pen.
    pub(super) fn print_spaces(&mut self, count: u16) {
        self.out.extend((0..count).map(|_| b' '));
        self.advance(count, true);
    }

    /// Leaves combining characters alone in the empty cell under the cursor: a replica gives them to
    /// the cell an explicit motion went to.
    pub(super) fn print_marks(&mut self, row: u16, column: u16, cell: &Cell, marks: &str) {
        self.state.place = Place::Unknown;
        self.go(row, column);
        self.erase_characters(cell.pen, 1);
        self.out.extend(marks.as_bytes());
        self.state.place = Place::Unknown;
    }

    /// Erases from the cursor to the end of the row.
    pub(super) fn erase_line(&mut self, pen: Pen) {
        self.erase_with(pen);
        self.out.extend(b"\x1b[K");
    }

    /// Erases `count` characters from the cursor on.
    pub(super) fn erase_characters(&mut self, pen: Pen, count: u16) {
        self.erase_with(pen);
        csi(&mut self.out, count, b'X');
    }

    /// Inserts `count` empty cells at the cursor.
    pub(super) fn insert_characters(&mut self, count: u16) {
        self.erase_with(Pen::default());
        csi(&mut self.out, count, b'@');
    }

    /// Deletes `count` cells at the cursor.
    pub(super) fn delete_characters(&mut self, count: u16) {
        self.erase_with(Pen::default());
        csi(&mut self.out, count, b'P');
    }

    /// Erases from the cursor to the end of the screen.
    pub(super) fn erase_below(&mut self) {
        self.erase_with(Pen::default());
        self.out.extend(b"\x1b[J");
    }

    /// Scrolls the rows `top..=bottom`, up or down, and leaves the margins full.
    pub(super) fn scroll(&mut self, top: u16, bottom: u16, lines: u16, up: bool) {
        self.hide();
        self.erase_with(Pen::default());
        let last = self.size.rows() - 1;
        if bottom < last {
            self.set_margins(top, bottom);
        }
        let row = match self.state.place {
            Place::At(Position { row, .. }) | Place::Margin { row } => Some(row),
            Place::Unknown => None,
        };
        // A line feed at the bottom lets a real terminal keep the line in its history.
        let history = !self.dialect.replica;
        if up && top == 0 && (history || row == Some(bottom) && lines <= LINE_FEEDS_MAX) {
            if row != Some(bottom) {
                self.go(bottom, 0);
            }
            self.out.extend((0..lines).map(|_| b'\n'));
        } else {
            self.go(top, 0);
            csi(&mut self.out, lines, if up { b'M' } else { b'L' });
        }
        if bottom < last {
            self.out.extend(b"\x1b[r");
            self.state.place = self.homed();
        }
        self.state.moved = true;
    }

    fn set_margins(&mut self, top: u16, bottom: u16) {
        self.out.extend(b"\x1b[");
        if top > 0 {
            push_number(&mut self.out, top + 1);
        }
        self.out.push(b';');
        push_number(&mut self.out, bottom + 1);
        self.out.push(b'r');
        self.state.place = self.homed();
    }

    /// Returns where setting the margins leaves the cursor: at home, but on some real terminals at the
    /// top margin.
    const fn homed(&self) -> Place {
        if self.dialect.replica { HOME } else { Place::Unknown }
    }

    /// Makes the bottom row wrap onto itself: below the margins nothing scrolls, and the character after
    /// the last goes to the front of the same row.
    pub(super) fn wrap_bottom_row(&mut self, now: &Row) {
        let bottom = self.size.rows() - 1;
        let (first, last) = (&now.cells[0], now.last_glyph());
        self.set_margins(0, bottom - 1);
        // Line feeds would scroll on their way past the margin.
        self.state.place = Place::Unknown;
        self.go(bottom, last);
        self.print(&now.cells[usize::from(last)], "", now.decoration(last));
        if first.base.is_some() {
            self.print(first, now.marks(0), now.decoration(0));
        } else {
            self.print_spaces(1);
        }
        self.out.extend(b"\x1b[r");
        self.state.place = self.homed();
        if first.combined && first.base.is_none() {
            self.print_marks(bottom, 0, first, now.marks(0));
        } else if first.base.is_none() {
            self.go(bottom, 0);
            self.erase_characters(first.pen, 1);
        }
    }

    /// Ends the line, as a program does: the cursor goes to the front of the next, wherever it is.
    pub(super) fn end_line(&mut self) {
        self.paint_with(Pen::default(), Decoration::NONE);
        self.out.extend(b"\r\n");
        self.state.place = Place::Unknown;
    }

    /// Returns the bytes, whatever state they leave.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    /// Leaves the cursor and the pen as `new` has them, and returns the bytes.
    pub(super) fn finish(mut self, new: &Screen) -> Vec<u8> {
        let cursor = new.cursor;
        let to = cursor.position();
        let in_margin = self.state.place == Place::Margin { row: to.row };
        if self.state.moved || !(in_margin && to.column + 1 == self.size.columns()) {
            // No need to hide the cursor on its way to where it will be seen.
            let visible = core::mem::replace(&mut self.state.visible, false);
            self.go(to.row, to.column);
            self.state.visible = visible;
        }
        if self.state.visible != cursor.visible {
            private_mode(&mut self.out, 25, cursor.visible);
        }
        self.render_with(self.dialect.repertoire.rendition(new.pen, &new.decoration));
        // A link left open on a real terminal would catch what others write there.
        self.link_to(new.decoration.link.as_ref().filter(|_| self.dialect.replica));
        self.out
    }

    /// Says that where the cursor is can no longer be relied upon.
    pub(super) fn doubt(&mut self) {
        self.state.place = Place::Unknown;
    }

    /// Says that the cursor is here, by a way of the terminal's own.
    pub(super) fn wrapped_to(&mut self, row: u16, column: u16) {
        self.state.place = printed_to(row, column, self.size);
    }

    fn advance(&mut self, columns: u16, settled: bool) {
        self.state.moved = true;
        self.state.place = match self.state.place {
            Place::At(at) if settled => printed_to(at.row, at.column + columns, self.size),
            _ => Place::Unknown,
        };
    }

    fn push(&mut self, c: char) {
        let mut utf8 = [0; 4];
        self.out.extend(c.encode_utf8(&mut utf8).as_bytes());
    }
}

/// Returns where printing up to `column` leaves the cursor.
const fn printed_to(row: u16, column: u16, size: Size) -> Place {
    if column < size.columns() {
        Place::At(Position { row, column })
    } else {
        Place::Margin { row }
    }
}

/// Returns where a shown cursor is. In the last column a wrap may be pending: the screen does not say.
const fn shown_at(cursor: Cursor, size: Size) -> Place {
    if cursor.column + 1 < size.columns() {
        Place::At(cursor.position())
    } else {
        Place::Margin { row: cursor.row }
    }
}

/// The top left corner.
const HOME: Place = Place::At(Position { row: 0, column: 0 });
