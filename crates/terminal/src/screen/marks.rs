//! Combining characters (marks), stored beside the row's cells.

use core::hash::{Hash, Hasher};
use std::ops::Range;

/// Most bytes of text in a cell, base and combining characters together. Once a cell has so many, further combining
/// characters are dropped. Source: Mosh 1.4.0 as observed, docs/terminal.md.
pub(crate) const CELL_TEXT_BYTES_MAX: usize = 32;

/// Most bytes of combining characters in a cell. The last begins before [`CELL_TEXT_BYTES_MAX`], and has up to four.
const MARKS_BYTES_MAX: usize = CELL_TEXT_BYTES_MAX - 1 + 4;

/// The combining characters of the cell in column `column`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Marked {
    column: u16,
    len: u8,
    /// The combining characters in UTF-8, followed by zeros.
    text: [u8; MARKS_BYTES_MAX],
}

impl Hash for Marked {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(u32::from(self.column) << 8 | u32::from(self.len));
        state.write(&self.text[..usize::from(self.len)]);
    }
}

impl Marked {
    fn text(&self) -> &str {
        str::from_utf8(&self.text[..usize::from(self.len)]).expect("it is made of characters")
    }

    fn push(&mut self, mark: char) {
        let len = usize::from(self.len);
        let end = len + mark.encode_utf8(&mut self.text[len..]).len();
        self.len = u8::try_from(end).expect("a cell's text is short");
    }
}

/// The combining characters of a row, ordered by column. An empty list allocates no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Marks {
    cells: Vec<Marked>,
}

impl Marks {
    /// Returns the number of cells with combining characters.
    pub(crate) const fn len(&self) -> usize {
        self.cells.len()
    }

    /// Returns the number of cells with combining characters from `column` on.
    pub(crate) fn len_from(&self, column: u16) -> usize {
        self.cells.len() - self.places(column..column).start
    }

    /// Returns the combining characters of the cell in `column`. Empty if there are none.
    pub(crate) fn at(&self, column: u16) -> &str {
        if self.cells.is_empty() {
            return "";
        }
        self.find(column).map_or("", |at| self.cells[at].text())
    }

    /// Adds a combining character to the cell in `column`, whose base has `base_bytes` bytes. Returns whether it fits.
    pub(crate) fn push(&mut self, column: u16, base_bytes: usize, mark: char) -> bool {
        match self.find(column) {
            Ok(at) if base_bytes + usize::from(self.cells[at].len) < CELL_TEXT_BYTES_MAX => {
                self.cells[at].push(mark);
                true
            }
            Ok(_) => false,
            Err(at) => {
                let mut marked = Marked { column, len: 0, text: [0; MARKS_BYTES_MAX] };
                marked.push(mark);
                self.cells.insert(at, marked);
                true
            }
        }
    }

    /// Removes the combining characters of the cells in `columns`.
    pub(crate) fn clear(&mut self, columns: Range<u16>) {
        if !self.cells.is_empty() {
            let places = self.places(columns);
            self.cells.drain(places);
        }
    }

    /// Moves the combining characters from `column` on to the columns that `target` returns, which must keep their
    /// order. If `target` returns `None`, removes the combining characters.
    pub(crate) fn shift(&mut self, column: u16, target: impl Fn(u16) -> Option<u16>) {
        if !self.reach(column) {
            return;
        }
        let from = self.places(column..u16::MAX).start;
        let mut kept = from;
        for at in from..self.cells.len() {
            if let Some(column) = target(self.cells[at].column) {
                self.cells[kept] = Marked { column, ..self.cells[at] };
                kept += 1;
            }
        }
        self.cells.truncate(kept);
    }

    /// Copies the combining characters of `columns` in row `from` to this row's columns from `to` on, which must have
    /// no combining characters.
    pub(crate) fn copy(&mut self, from: &Self, columns: Range<u16>, to: u16) {
        let places = from.places(columns.clone());
        let moved = from.cells[places]
            .iter()
            .map(|marked| Marked { column: marked.column - columns.start + to, ..*marked });
        let at = self.places(to..to).start;
        self.cells.splice(at..at, moved);
    }

    /// Returns whether a cell from `column` on has combining characters.
    pub(crate) fn reach(&self, column: u16) -> bool {
        self.cells.last().is_some_and(|last| last.column >= column)
    }

    pub(crate) fn columns(&self) -> impl Iterator<Item = u16> {
        self.cells.iter().map(|marked| marked.column)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.cells.capacity() * size_of::<Marked>()
    }

    fn find(&self, column: u16) -> Result<usize, usize> {
        self.cells.binary_search_by_key(&column, |marked| marked.column)
    }

    fn places(&self, columns: Range<u16>) -> Range<usize> {
        let place = |column| self.cells.partition_point(|marked| marked.column < column);
        place(columns.start)..place(columns.end)
    }
}
