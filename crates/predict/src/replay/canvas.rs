//! The few rows that predictions touch, drawn over the screen that they begin from.

use std::ops::Range;

use rove_terminal::{Cell, Decoration, Glyph, Pen, Position, Screen};

use crate::overlay::{self, Content};

/// Fewest characters of a row that is found again elsewhere. Chosen: two are a prompt.
pub(super) const MOVED_MIN: usize = 2;

/// What is predicted to stand in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tile {
    /// What stood here, or somewhere else, before.
    Ground(Position),
    /// A character that was typed.
    Typed { base: char, wide: bool, pen: Pen },
    /// The right half of a wide one, or nothing.
    Blank(Pen),
    /// Nobody knows what will; what was there goes.
    Veiled(Pen),
    /// Nobody knows what will, but this is likely.
    Guess { base: char, wide: bool, pen: Pen },
}

/// Predicted rows over a screen.
#[derive(Clone, Debug)]
pub(super) struct Canvas<'a> {
    ground: &'a Screen,
    rows: Vec<PredictedRow>,
    pub(super) cursor: Position,
}

#[derive(Clone, Debug)]
struct PredictedRow {
    row: u16,
    tiles: Vec<Tile>,
    /// The columns that were written to.
    changed: Range<u16>,
}

impl<'a> Canvas<'a> {
    pub(super) fn new(ground: &'a Screen) -> Self {
        let cursor = ground.cursor();
        let cursor = Position { row: cursor.row, column: cursor.column };
        Self { ground, rows: Vec::new(), cursor }
    }

    pub(super) fn ground(&self) -> &'a Screen {
        self.ground
    }

    /// Returns what stands in one place.
    pub(super) fn tile(&self, at: Position) -> Tile {
        self.rows
            .iter()
            .find(|predicted| predicted.row == at.row)
            .and_then(|predicted| predicted.tiles.get(usize::from(at.column)).copied())
            .unwrap_or(Tile::Ground(at))
    }

    /// Replaces what stands in one place; outside the screen it does nothing.
    pub(super) fn put(&mut self, at: Position, tile: Tile) {
        let size = self.ground.size();
        if at.row >= size.rows() || at.column >= size.columns() {
            return;
        }
        let row = self.row(at.row);
        row.tiles[usize::from(at.column)] = tile;
        row.changed = if row.changed.is_empty() {
            at.column..at.column + 1
        } else {
            row.changed.start.min(at.column)..row.changed.end.max(at.column + 1)
        };
    }

    /// Returns the character of a place and what combines with it: nothing for all blanks.
    pub(super) fn text(&self, at: Position) -> Text<'a> {
        match self.tile(at) {
            Tile::Ground(from) => Text::of(self.ground, from),
            Tile::Typed { base, .. } | Tile::Guess { base, .. } => Text::plain(base),
            Tile::Blank(_) | Tile::Veiled(_) => Text::BLANK,
        }
    }

    /// Returns the pen of a place.
    pub(super) fn pen(&self, at: Position) -> Pen {
        match self.tile(at) {
            Tile::Ground(from) => cell(self.ground, from).pen,
            Tile::Typed { pen, .. }
            | Tile::Guess { pen, .. }
            | Tile::Blank(pen)
            | Tile::Veiled(pen) => pen,
        }
    }

    /// Returns the rows that were written to, and the columns.
    pub(super) fn written(&self) -> Vec<(u16, Range<u16>)> {
        self.rows.iter().map(|predicted| (predicted.row, predicted.changed.clone())).collect()
    }

    /// Returns what stands in some columns of a row, but for what combines with it.
    pub(super) fn cells(&self, row: u16, columns: Range<u16>) -> Vec<Cell> {
        let cell = |column| {
            let at = Position { row, column };
            Cell { base: self.text(at).base, pen: self.pen(at), ..Cell::default() }
        };
        columns.map(cell).collect()
    }

    /// Returns whether what stands in a place was typed.
    pub(super) fn is_typed(&self, row: u16, column: u16) -> bool {
        matches!(self.tile(Position { row, column }), Tile::Typed { .. })
    }

    /// Gives what was typed another pen.
    pub(super) fn paint(&mut self, at: Position, new: Pen) {
        if let Tile::Typed { base, wide, .. } = self.tile(at) {
            self.put(at, Tile::Typed { base, wide, pen: new });
        }
    }

    /// Returns whether a wide character begins in a place.
    pub(super) fn is_wide(&self, at: Position) -> bool {
        match self.tile(at) {
            Tile::Ground(from) => cell(self.ground, from).wide,
            Tile::Typed { wide, .. } | Tile::Guess { wide, .. } => wide,
            Tile::Blank(_) | Tile::Veiled(_) => false,
        }
    }

    /// Returns whether it is known what will stand in a place.
    fn is_known(&self, at: Position) -> bool {
        !matches!(self.tile(at), Tile::Veiled(_) | Tile::Guess { .. })
    }

    /// Returns whether the screen has the text that is predicted, in all places that were written to.
    pub(super) fn agrees(&self, screen: &Screen) -> bool {
        let is_known = |at: &Position| self.is_known(*at);
        self.places().filter(is_known).all(|at| self.text(at) == Text::of(screen, at))
    }

    /// Returns whether the screen has another text where something is predicted, neither what is predicted
    /// nor what was there before.
    pub(super) fn conflicts(&self, screen: &Screen) -> bool {
        let is_known = |at: &Position| self.is_known(*at);
        self.places().filter(is_known).any(|at| {
            let text = Text::of(screen, at);
            text != self.text(at) && text != Text::of(self.ground, at)
        })
    }

    /// Returns whether a row of the screen has the text that is predicted of the cursor's row, as far as
    /// the cursor, and some text it is.
    pub(super) fn agrees_in_row(&self, screen: &Screen, screen_row: u16) -> bool {
        let texts = (0..self.cursor.column).map(|column| {
            let text = self.text(Position { row: self.cursor.row, column });
            (text, Text::of(screen, Position { row: screen_row, column }))
        });
        let is_text = texts.clone().filter(|(text, _)| !text.is_blank()).count() >= MOVED_MIN;
        is_text && texts.into_iter().all(|(text, shown)| text == shown)
    }

    /// Lays what is predicted over a screen.
    pub(super) fn draw(&self, frame: &mut Screen, underlines: bool) {
        for predicted in &self.rows {
            for column in predicted.changed.clone() {
                let at = Position { row: predicted.row, column };
                if let Some(content) = self.content(at) {
                    overlay::lay(frame, at, &content, underlines);
                }
            }
            frame.mend_row(predicted.row);
        }
        frame.place_cursor(self.cursor);
    }

    fn content(&self, at: Position) -> Option<Content> {
        let glyph = match self.tile(at) {
            Tile::Ground(from) if from == at => return None,
            Tile::Ground(from) => self.ground.glyph(from)?,
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

    fn places(&self) -> impl Iterator<Item = Position> {
        self.rows.iter().flat_map(|predicted| {
            predicted.changed.clone().map(|column| Position { row: predicted.row, column })
        })
    }

    fn row(&mut self, row: u16) -> &mut PredictedRow {
        let index = self.rows.iter().position(|known| known.row == row).unwrap_or_else(|| {
            let columns = 0..self.ground.size().columns();
            let tiles = columns.map(|column| Tile::Ground(Position { row, column })).collect();
            self.rows.push(PredictedRow { row, tiles, changed: 0..0 });
            self.rows.len() - 1
        });
        &mut self.rows[index]
    }
}

/// The text of one place, in which all blanks are the same: a character, and what combines with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Text<'a> {
    pub(super) base: Option<char>,
    pub(super) marks: &'a str,
}

impl<'a> Text<'a> {
    /// Returns that of a character alone.
    pub(super) fn plain(base: char) -> Self {
        Self { base: Some(base).filter(|c| !is_blank(*c)), marks: "" }
    }

    /// Returns that of a place; blank outside the screen.
    pub(super) fn of(screen: &'a Screen, at: Position) -> Self {
        let Some(row) = screen.row(at.row) else { return Self::BLANK };
        let Some(cell) = row.cells().get(usize::from(at.column)) else { return Self::BLANK };
        let marks = if cell.combined { row.marks(at.column) } else { "" };
        Self { base: cell.base.filter(|c| !is_blank(*c)), marks }
    }

    const BLANK: Self = Self { base: None, marks: "" };

    pub(super) fn is_blank(self) -> bool {
        self == Text::BLANK
    }
}

/// Returns a cell, an empty one outside the screen.
pub(super) fn cell(screen: &Screen, at: Position) -> Cell {
    let row = screen.row(at.row);
    row.and_then(|row| row.cells().get(usize::from(at.column)).copied()).unwrap_or_default()
}

const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}')
}

/// FNV-1a over whole numbers: names, not secrets.
pub(super) fn mix(numbers: &[u64]) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    numbers.iter().flat_map(|number| number.to_le_bytes()).fold(0xcbf2_9ce4_8422_2325, step)
}
