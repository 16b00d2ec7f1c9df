//! Writes the bytes that draw on a terminal, and tracks the terminal's cursor and pen (colours and attributes).

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

/// Most lines that a diff scrolls by line feeds if the replica's cursor is already in the bottom row. Chosen: ten line
/// feeds are as long as the alternative, which moves to the top, deletes the lines and moves back.
const LINE_FEEDS_MAX: u16 = 10;

/// Ends a hyperlink (OSC 8).
pub(crate) const LINK_END: &[u8] = b"\x1b]8;;\x1b\\";

/// The state of the receiving terminal, on which the next bytes depend.
#[derive(Clone, Debug)]
struct State {
    place: Place,
    /// Whether the bytes written so far have moved the cursor.
    moved: bool,
    rendition: Rendition,
    link: Option<Arc<Hyperlink>>,
    visible: bool,
}

/// A state to which the brush can return, and the number of bytes that were written before this state.
#[derive(Clone, Debug)]
pub(super) struct Checkpoint {
    length: usize,
    state: State,
}

/// Writes the bytes that draw on a terminal, and tracks the terminal's cursor and pen.
#[derive(Clone, Debug)]
pub(super) struct Brush {
    out: Vec<u8>,
    pub(super) dialect: Dialect,
    pub(super) size: Size,
    state: State,
}

impl Brush {
    /// Creates a brush for a terminal that displays `shown`. The brush appends its bytes to `out`.
    pub(super) fn new(out: Vec<u8>, shown: &Screen, dialect: Dialect) -> Self {
        let cursor = shown.cursor;
        let state = State {
            place: shown_at(cursor, shown.size),
            moved: false,
            rendition: dialect.repertoire.rendition(shown.pen, &shown.decoration),
            // A frame never leaves a hyperlink open on a real terminal.
            link: shown
                .decoration
                .link
                .clone()
                .filter(|_| dialect.replica && dialect.repertoire.links),
            visible: cursor.visible,
        };
        Self { out, dialect, size: shown.size, state }
    }

    /// Makes the terminal blank, whatever it displays. Afterwards no margins are set, no link is open, the pen is the
    /// default, and the cursor is at the top left. On a real terminal the cursor is then hidden.
    pub(super) fn reset(&mut self, size: Size) {
        self.size = size;
        if !self.dialect.replica {
            private_mode(&mut self.out, 25, false);
            self.state.visible = false;
            // Other programs may have changed the terminal's modes. So these sequences select the normal character set,
            // replace mode and autowrap, and reset origin mode.
            self.out.extend(b"\x1b(B\x0f\x1b[4l\x1b[?7h\x1b[?6l");
        }
        self.link_to(None);
        self.out.extend(b"\x1b[r\x1b[m");
        self.out.extend(match self.dialect.history {
            History::Frames => b"\x1b[H\x1b[2J" as &[u8],
            // A terminal may copy all rows to its history if one sequence erases all of them. So the first row is
            // erased last and by itself. On a screen of one row, nothing remains to be erased first.
            History::FramesOnly | History::LinesOnly if size.rows() == 1 => b"\x1b[H\x1b[K",
            History::FramesOnly | History::LinesOnly => b"\x1b[2H\x1b[J\x1b[H\x1b[K",
        });
        self.state.place = HOME;
        self.state.moved = true;
        self.state.rendition = Rendition::default();
    }

    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint { length: self.out.len(), state: self.state.clone() }
    }

    pub(super) fn since(&self, checkpoint: &Checkpoint) -> usize {
        self.out.len() - checkpoint.length
    }

    /// Removes and returns all bytes written since `checkpoint`, and restores the state of that time.
    pub(super) fn rewind(&mut self, checkpoint: &Checkpoint) -> Vec<u8> {
        self.state = checkpoint.state.clone();
        self.out.split_off(checkpoint.length)
    }

    /// Writes `bytes` again, which [`Self::rewind`] has removed. `end` is the state after these bytes.
    pub(super) fn replay(&mut self, bytes: &[u8], end: Checkpoint) {
        self.out.extend(bytes);
        self.state = end.state;
    }

    pub(super) fn place(&self) -> Place {
        self.state.place
    }

    /// Returns whether this pen and decoration are already set, so that text can be written without a sequence.
    pub(super) fn paints(&self, pen: Pen, decoration: &Decoration) -> bool {
        let repertoire = self.dialect.repertoire;
        self.state.rendition == repertoire.rendition(pen, decoration)
            && (!repertoire.links || self.state.link == decoration.link)
    }

    /// Moves the cursor to `row` and `column`, if it is elsewhere.
    pub(super) fn go(&mut self, row: u16, column: u16) {
        let to = Position { row, column };
        debug_assert!(row < self.size.rows() && column < self.size.columns(), "{to:?}");
        if self.state.place == Place::At(to) {
            return;
        }
        self.hide();
        write_motion(&mut self.out, self.state.place, to, self.dialect.functions);
        self.state.place = Place::At(to);
        self.state.moved = true;
    }

    /// Hides a real terminal's cursor, so that the user does not see it jump. A replica's cursor need not be hidden.
    fn hide(&mut self) {
        if self.state.visible && !self.dialect.replica {
            private_mode(&mut self.out, 25, false);
            self.state.visible = false;
        }
    }

    /// Sets pen and decoration for the text that is written next.
    pub(super) fn paint_with(&mut self, pen: Pen, decoration: &Decoration) {
        let mut rendition = self.dialect.repertoire.rendition(pen, decoration);
        if pen.attributes.underline() == Underline::None {
            // The colour of an absent underline has no effect, and resetting it would cost bytes.
            rendition.underline_color = self.state.rendition.underline_color;
        }
        self.render_with(rendition);
        self.link_to(decoration.link.as_ref());
    }

    fn render_with(&mut self, rendition: Rendition) {
        write_sgr(&mut self.out, self.state.rendition, rendition);
        self.state.rendition = rendition;
    }

    /// Begins, changes or ends (`None`) a hyperlink (OSC 8).
    fn link_to(&mut self, link: Option<&Arc<Hyperlink>>) {
        if !self.dialect.repertoire.links || self.state.link.as_ref() == link {
            return;
        }
        if let Some(link) = link {
            self.out.extend(b"\x1b]8;");
            if !link.id().is_empty() {
                self.out.extend(b"id=");
                self.out.extend(link.id().as_bytes());
            }
            self.out.push(b';');
            self.out.extend(link.uri().as_bytes());
            self.out.extend(b"\x1b\\");
        } else {
            self.out.extend(LINK_END);
        }
        self.state.link = link.cloned();
    }

    /// Sets the pen so that erased cells look like `pen`. Erasing gives a replica's cells only the background colour,
    /// and may give a real terminal's cells other attributes too.
    fn erase_with(&mut self, pen: Pen) {
        if !self.dialect.replica || pen.background != self.state.rendition.pen.background {
            self.paint_with(pen.erased(), Decoration::NONE);
        }
    }

    /// Returns whether the terminal can erase cells so that they get the background of `pen`.
    pub(super) fn can_erase(&self, pen: Pen) -> bool {
        self.dialect.functions.background_color_erase || pen.erased() == Pen::default()
    }

    /// Prints a cell at the cursor. If terminals disagree about the cell's width, the cursor's place becomes unknown.
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

    /// Prints a cluster ([`is_cluster`]) on a replica. OSC 66 (kitty's text sizing protocol) states the cluster's
    /// width. A replica without OSC 66 gets a similar text of equal width.
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

    pub(super) fn print_spaces(&mut self, count: u16) {
        self.out.extend((0..count).map(|_| b' '));
        self.advance(count, true);
    }

    /// Prints combining characters without a base character into an empty cell. A replica adds them to the cell under
    /// the cursor only after an explicit motion.
    pub(super) fn print_marks(&mut self, row: u16, column: u16, cell: &Cell, marks: &str) {
        self.state.place = Place::Unknown;
        self.go(row, column);
        self.erase_characters(cell.pen, 1);
        self.out.extend(marks.as_bytes());
        self.state.place = Place::Unknown;
    }

    /// Erases from the cursor to the end of the row. The cells get the background of `pen`.
    pub(super) fn erase_line(&mut self, pen: Pen) {
        self.erase_with(pen);
        self.out.extend(b"\x1b[K");
    }

    pub(super) fn erase_characters(&mut self, pen: Pen, count: u16) {
        self.erase_with(pen);
        csi(&mut self.out, count, b'X');
    }

    pub(super) fn insert_characters(&mut self, count: u16) {
        self.erase_with(Pen::default());
        csi(&mut self.out, count, b'@');
    }

    pub(super) fn delete_characters(&mut self, count: u16) {
        self.erase_with(Pen::default());
        csi(&mut self.out, count, b'P');
    }

    /// Erases from the cursor to the end of the screen, with the default pen.
    pub(super) fn erase_below(&mut self) {
        self.erase_with(Pen::default());
        self.out.extend(b"\x1b[J");
    }

    /// Scrolls the rows `top..=bottom` by `lines` up or down. Afterwards the margins span the whole screen.
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
        // A real terminal keeps a line in its history if a line feed scrolls it off the top.
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

    /// Returns the cursor's place after the margins were set: the top left corner, or unknown on a real terminal.
    const fn homed(&self) -> Place {
        if self.dialect.replica { HOME } else { Place::Unknown }
    }

    /// Sets the wrap flag of the terminal's bottom row `now` by printing past the row's end. Meanwhile the margins
    /// exclude this row. So nothing scrolls, and the next character is printed at the start of the same row.
    pub(super) fn wrap_bottom_row(&mut self, now: &Row) {
        let bottom = self.size.rows() - 1;
        let (first, last) = (&now.cells[0], now.last_glyph());
        self.set_margins(0, bottom - 1);
        // The unknown place prevents a motion by line feeds, which would scroll at the margin.
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

    /// Ends the line as a program does: moves the cursor to the start of the next line.
    pub(super) fn end_line(&mut self) {
        self.paint_with(Pen::default(), Decoration::NONE);
        self.out.extend(b"\r\n");
        self.state.place = Place::Unknown;
    }

    /// Returns the written bytes, without setting the final cursor and pen.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.out
    }

    /// Sets the cursor and pen of `new`, and returns the written bytes.
    pub(super) fn finish(mut self, new: &Screen) -> Vec<u8> {
        let cursor = new.cursor;
        let to = cursor.position();
        let in_margin = self.state.place == Place::Margin { row: to.row };
        if self.state.moved || !(in_margin && to.column + 1 == self.size.columns()) {
            // The cursor need not be hidden while it moves to its final place.
            let visible = core::mem::replace(&mut self.state.visible, false);
            self.go(to.row, to.column);
            self.state.visible = visible;
        }
        if self.state.visible != cursor.visible {
            private_mode(&mut self.out, 25, cursor.visible);
        }
        self.render_with(self.dialect.repertoire.rendition(new.pen, &new.decoration));
        // Other programs may write to a real terminal, and an open hyperlink would include their text.
        self.link_to(new.decoration.link.as_ref().filter(|_| self.dialect.replica));
        self.out
    }

    pub(super) fn doubt(&mut self) {
        self.state.place = Place::Unknown;
    }

    /// Records that the terminal has wrapped into `row` by itself, and has printed there up to `column`.
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

/// Returns the cursor's place after text was printed in `row` up to `column`.
const fn printed_to(row: u16, column: u16, size: Size) -> Place {
    if column < size.columns() {
        Place::At(Position { row, column })
    } else {
        Place::Margin { row }
    }
}

/// Returns the cursor's place on a displayed screen. In the last column, it is unknown whether a wrap is pending.
const fn shown_at(cursor: Cursor, size: Size) -> Place {
    if cursor.column + 1 < size.columns() {
        Place::At(cursor.position())
    } else {
        Place::Margin { row: cursor.row }
    }
}

const HOME: Place = Place::At(Position { row: 0, column: 0 });
