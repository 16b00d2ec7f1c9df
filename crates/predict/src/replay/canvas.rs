//! The predicted cells over the base, the screen on which keys are simulated. Only rows with predictions are stored.

use std::collections::VecDeque;
use std::ops::Range;

use rove_terminal::{Cell, Decoration, Glyph, Pen, Position, Row, Screen};

use crate::overlay::{self, Content};
use crate::scene::character;
use crate::scene::text::{Text, cell};

/// Fewest characters by which text is recognised in another row of the screen. Chosen: short prompts have two.
pub(super) const MOVED_MIN: usize = 2;

/// The predicted content of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tile {
    /// The text of the base screen at this position. After a shift, this is not the tile's own position.
    Original(Position),
    /// A character that the user typed.
    Typed { base: char, wide: bool, pen: Pen },
    /// The right half of a wide character, or an empty cell.
    Blank(Pen),
    /// A cell whose old character disappears and whose new one is unknown.
    Veiled(Pen),
    /// A cell whose new character is probably `base`.
    Guess { base: char, wide: bool, pen: Pen },
}

/// The predicted cells over a base screen.
#[derive(Clone, Debug)]
pub(super) struct Canvas<'a> {
    screen: &'a Screen,
    /// The columns to which scrolling and changes are limited.
    columns: Range<u16>,
    rows: Vec<PredictedRow>,
    /// For each row, the base screen's row that has scrolled there (`None`: an empty row). Empty without scrolling.
    moved: Vec<Option<u16>>,
    pub(super) cursor: Position,
}

/// The predicted cells of a row, from the first written column to the last.
#[derive(Clone, Debug)]
struct PredictedRow {
    row: u16,
    start: u16,
    tiles: VecDeque<Tile>,
}

impl<'a> Canvas<'a> {
    pub(super) fn new(screen: &'a Screen) -> Self {
        let cursor = screen.cursor().position();
        let columns = 0..screen.size().columns();
        Self { screen, columns, rows: Vec::new(), moved: Vec::new(), cursor }
    }

    /// Restricts all changes to `columns`.
    pub(super) fn within(self, columns: Range<u16>) -> Self {
        Self { columns, ..self }
    }

    pub(super) fn screen(&self) -> &'a Screen {
        self.screen
    }

    /// Returns the predicted content of a cell.
    pub(super) fn tile(&self, at: Position) -> Tile {
        if !self.columns.contains(&at.column) {
            return Tile::Original(at);
        }
        self.rows
            .iter()
            .find(|predicted| predicted.row == at.row)
            .and_then(|predicted| predicted.tile(at.column))
            .unwrap_or_else(|| self.base(at))
    }

    /// Returns the content of a cell before predictions, but after scrolling.
    fn base(&self, at: Position) -> Tile {
        match self.moved.get(usize::from(at.row)) {
            Some(Some(row)) => Tile::Original(Position { row: *row, ..at }),
            Some(None) => Tile::Blank(Pen::default()),
            None => Tile::Original(at),
        }
    }

    /// Scrolls `rows` up by one: the first row disappears, and the last row becomes empty.
    pub(super) fn scroll_up(&mut self, rows: Range<u16>) {
        self.rows.retain(|predicted| predicted.row != rows.start);
        for predicted in self.rows.iter_mut().filter(|predicted| rows.contains(&predicted.row)) {
            predicted.row -= 1;
        }
        let moved = self.moved_rows(rows);
        moved.rotate_left(1);
        if let Some(last) = moved.last_mut() {
            *last = None;
        }
    }

    fn moved_rows(&mut self, rows: Range<u16>) -> &mut [Option<u16>] {
        if self.moved.is_empty() {
            self.moved = (0..self.screen.size().rows()).map(Some).collect();
        }
        &mut self.moved[usize::from(rows.start)..usize::from(rows.end)]
    }

    /// Writes a cell, if it is on the screen and in the canvas's columns.
    pub(super) fn put(&mut self, at: Position, tile: Tile) {
        let size = self.screen.size();
        if at.row >= size.rows() || !self.columns.contains(&at.column) {
            return;
        }
        let index = self.rows.iter().position(|known| known.row == at.row).unwrap_or_else(|| {
            let (row, start) = (at.row, at.column);
            self.rows.push(PredictedRow { row, start, tiles: VecDeque::new() });
            self.rows.len() - 1
        });
        let Range { start, end } = self.rows[index].columns();
        for column in (at.column..start).rev() {
            let base = self.base(Position { column, ..at });
            self.rows[index].tiles.push_front(base);
        }
        for column in end..=at.column {
            let base = self.base(Position { column, ..at });
            self.rows[index].tiles.push_back(base);
        }
        let row = &mut self.rows[index];
        row.start = start.min(at.column);
        row.tiles[usize::from(at.column - row.start)] = tile;
    }

    /// Returns the character of a cell with its combining characters. All kinds of blanks are equal.
    pub(super) fn text(&self, at: Position) -> Text<'a> {
        match self.tile(at) {
            Tile::Original(from) => Text::of(self.screen, from),
            Tile::Typed { base, .. } | Tile::Guess { base, .. } => Text::plain(base),
            Tile::Blank(_) | Tile::Veiled(_) => Text::BLANK,
        }
    }

    /// Returns the last of `columns` in which this row has text or a typed blank. `None` without such a column.
    pub(super) fn last_text(&self, row: u16, columns: Range<u16>) -> Option<u16> {
        let is_original = self.moved.is_empty() && self.rows.iter().all(|other| other.row != row);
        if is_original {
            let cells = self.screen.row(row).map(Row::cells).unwrap_or_default();
            let (start, end) = (usize::from(columns.start), usize::from(columns.end));
            let cells = cells.get(start..end.min(cells.len())).unwrap_or_default();
            let is_text = |cell: &Cell| cell.combined || character(cell) != ' ';
            let index = cells.iter().rposition(is_text)?;
            return Some(columns.start + u16::try_from(index).unwrap_or(u16::MAX));
        }
        columns.rev().find(|column| {
            let at = Position { row, column: *column };
            !self.text(at).is_blank() || self.is_typed(row, *column)
        })
    }

    /// Returns the colours and attributes of a cell.
    pub(super) fn pen(&self, at: Position) -> Pen {
        match self.tile(at) {
            Tile::Original(from) => cell(self.screen, from).pen,
            Tile::Typed { pen, .. }
            | Tile::Guess { pen, .. }
            | Tile::Blank(pen)
            | Tile::Veiled(pen) => pen,
        }
    }

    /// Returns whether any cell is predicted, not only the cursor's position.
    pub(super) fn is_written(&self) -> bool {
        !self.rows.is_empty() || !self.moved.is_empty()
    }

    /// Returns the rows with predicted cells, each with its columns.
    pub(super) fn written(&self) -> Vec<(u16, Range<u16>)> {
        self.rows.iter().map(|predicted| (predicted.row, predicted.columns())).collect()
    }

    /// Returns the cells of a row in `columns`, without combining characters.
    pub(super) fn cells(&self, row: u16, columns: Range<u16>) -> Vec<Cell> {
        let cell = |column| {
            let at = Position { row, column };
            Cell { base: self.text(at).base, pen: self.pen(at), ..Cell::default() }
        };
        columns.map(cell).collect()
    }

    /// Returns whether the user typed the content of a cell.
    pub(super) fn is_typed(&self, row: u16, column: u16) -> bool {
        matches!(self.tile(Position { row, column }), Tile::Typed { .. })
    }

    /// Changes the colours of a typed character. Ignores any other cell.
    pub(super) fn paint(&mut self, at: Position, new: Pen) {
        if let Tile::Typed { base, wide, .. } = self.tile(at) {
            self.put(at, Tile::Typed { base, wide, pen: new });
        }
    }

    /// Returns whether a wide character begins in a cell.
    pub(super) fn is_wide(&self, at: Position) -> bool {
        match self.tile(at) {
            Tile::Original(from) => cell(self.screen, from).wide,
            Tile::Typed { wide, .. } | Tile::Guess { wide, .. } => wide,
            Tile::Blank(_) | Tile::Veiled(_) => false,
        }
    }

    /// Returns whether the character of a cell is certain, rather than a guess or unknown.
    fn is_known(&self, at: Position) -> bool {
        !matches!(self.tile(at), Tile::Veiled(_) | Tile::Guess { .. })
    }

    /// Returns whether `screen` has the predicted text in all written or scrolled cells. Uncertain cells do not count.
    pub(super) fn agrees(&self, screen: &Screen) -> bool {
        self.known_places().all(|at| self.text(at) == Text::of(screen, at))
            && self.moves().all(|(row, from)| self.agrees_with_move(screen, row, from))
    }

    /// Returns whether `row` of `screen` has the text that scrolled there from row `from`, except in written cells.
    fn agrees_with_move(&self, screen: &Screen, row: u16, from: Option<u16>) -> bool {
        let written = self.rows.iter().find(|predicted| predicted.row == row);
        let is_same = from.is_some_and(|from| self.screen.row(from) == screen.row(row));
        let is_written = |column| written.is_some_and(|row| row.columns().contains(&column));
        is_same && written.is_none()
            || self.columns.clone().filter(|column| !is_written(*column)).all(|column| {
                let was = from.map(|row| Text::of(self.screen, Position { row, column }));
                was.unwrap_or(Text::BLANK) == Text::of(screen, Position { row, column })
            })
    }

    /// Returns the rows that have scrolled, each with the row that its text came from, or `None` for an empty row.
    fn moves(&self) -> impl Iterator<Item = (u16, Option<u16>)> {
        (0..).zip(self.moved.iter().copied()).filter(|(row, from)| *from != Some(*row))
    }

    /// Returns whether `screen`, perhaps moved with the cursor, has all certain text of the written cells, but `fewer`,
    /// the canvas after fewer keys, does not explain it. A suggestion does not explain text in another colour.
    pub(super) fn explains_more(&self, fewer: &Self, screen: &Screen) -> bool {
        let moved = |at: Position| {
            let row = (at.row + screen.cursor().row).saturating_sub(self.cursor.row);
            Position { row, ..at }
        };
        let explains = |at: Position| {
            let is_typed = self.is_typed(at.row, at.column) && !fewer.is_typed(at.row, at.column);
            let is_painted = is_typed && fewer.pen(at) != cell(screen, moved(at)).pen;
            fewer.is_known(at) && !is_painted && fewer.text(at) == Text::of(screen, moved(at))
        };
        self.known_places().all(|at| self.text(at) == Text::of(screen, moved(at)))
            && !self.known_places().all(explains)
    }

    /// Returns whether `screen` has neither the predicted nor the old text in a written cell. Ignores uncertain cells.
    pub(super) fn conflicts(&self, screen: &Screen) -> bool {
        self.known_places().any(|at| {
            let text = Text::of(screen, at);
            text != self.text(at) && text != Text::of(self.screen, at)
        })
    }

    /// Returns whether the predicted text from row `top` to the cursor is on `screen` in other rows, of which the last
    /// is `screen_row`. False if the text has fewer than [`MOVED_MIN`] characters.
    pub(super) fn agrees_elsewhere(&self, screen: &Screen, top: u16, screen_row: u16) -> bool {
        let top = top.min(self.cursor.row);
        let Some(screen_top) = screen_row.checked_sub(self.cursor.row - top) else { return false };
        let texts = (top..=self.cursor.row).zip(screen_top..).flat_map(|(row, screen_row)| {
            let is_last = row == self.cursor.row;
            let columns = if is_last { 0..self.cursor.column } else { self.columns.clone() };
            columns.map(move |column| {
                let text = self.text(Position { row, column });
                (text, Text::of(screen, Position { row: screen_row, column }))
            })
        });
        let is_text = texts.clone().filter(|(text, _)| !text.is_blank()).count() >= MOVED_MIN;
        is_text && texts.into_iter().all(|(text, shown)| text == shown)
    }

    /// Draws the predictions over a frame, underlined if `underlines` is true.
    pub(super) fn draw(&self, frame: &mut Screen, underlines: bool) {
        for (row, from) in self.moves() {
            frame.copy_row(row, self.columns.clone(), self.screen, from);
        }
        for predicted in &self.rows {
            for column in predicted.columns() {
                let at = Position { row: predicted.row, column };
                // An underlined right half would be a blank cell, which cuts the wide character.
                let before = column.checked_sub(1).map(|column| Position { column, ..at });
                let is_half = before.is_some_and(|before| self.is_wide(before));
                if let Some(content) = self.content(at) {
                    overlay::lay(frame, at, &content, underlines && !is_half);
                }
            }
            frame.mend_row(predicted.row);
        }
        frame.place_cursor(self.cursor);
    }

    fn content(&self, at: Position) -> Option<Content> {
        let tile = self.tile(at);
        if tile == self.base(at) {
            return None;
        }
        let glyph = match tile {
            Tile::Original(from) => self.screen.glyph(from)?,
            Tile::Typed { base, wide, pen } | Tile::Guess { base, wide, pen } => {
                let cell = Cell { base: Some(base), pen, wide, combined: false };
                Glyph { cell, marks: "".into(), decoration: Decoration::default() }
            }
            Tile::Blank(pen) | Tile::Veiled(pen) => {
                Glyph { cell: Cell::erased(pen), ..Glyph::default() }
            }
        };
        Some(Content { is_unknown: false, glyph })
    }

    fn known_places(&self) -> impl Iterator<Item = Position> {
        let places = self.rows.iter().flat_map(|predicted| {
            predicted.columns().map(|column| Position { row: predicted.row, column })
        });
        places.filter(|at| self.is_known(*at))
    }
}

impl PredictedRow {
    fn columns(&self) -> Range<u16> {
        self.start..self.start + u16::try_from(self.tiles.len()).unwrap_or(u16::MAX)
    }

    fn tile(&self, column: u16) -> Option<Tile> {
        let index = column.checked_sub(self.start)?;
        self.tiles.get(usize::from(index)).copied()
    }
}

/// Returns the FNV-1a hash of integers. The hash identifies prompts and windows, but hides nothing.
pub(super) fn mix(numbers: impl IntoIterator<Item = u64>) -> u64 {
    let step = |hash: u64, number: u64| (hash ^ number).wrapping_mul(0x0100_0000_01b3);
    numbers.into_iter().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use rove_terminal::{Size, Terminal};

    use super::*;

    #[test]
    fn a_wide_character_that_a_panes_edge_cuts_is_blank_after_the_pane_has_scrolled() {
        let mut host = Terminal::host(Size::clamped(4, 2));
        host.write("abcd\r\n二二".as_bytes());
        let screen = host.snapshot();
        for (columns, row) in [(0..4, "二二"), (0..3, "二 d"), (1..4, "a 二")] {
            let mut canvas = Canvas::new(&screen).within(columns);
            canvas.scroll_up(0..2);
            let mut frame = screen.clone();
            canvas.draw(&mut frame, false);
            assert_eq!(frame.row_text(0), row);
        }
    }
}
