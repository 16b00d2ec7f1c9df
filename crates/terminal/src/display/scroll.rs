//! Finds blocks of rows that have moved up or down between two screens.

use core::hash::{Hash, Hasher};
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::screen::cell::Pen;
use crate::screen::row::Row;

/// Fewest written cells that a scroll must move into place. Chosen: the sequences of a scroll take about as many bytes.
const INK_MIN: usize = 8;

/// A scroll of some rows of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scroll {
    /// First row of the region that scrolls, from 0.
    pub(super) top: usize,
    /// Last row of the region that scrolls.
    pub(super) bottom: usize,
    /// The number of rows by which the content moves.
    pub(super) lines: usize,
    /// Whether the content moves up.
    pub(super) up: bool,
}

impl Scroll {
    /// Returns the scroll without the screen's top row if this row would move up. A terminal may keep each row that
    /// leaves the top in its history. The top row is drawn instead. `None` if no other row would move.
    pub(super) fn below_top(self) -> Option<Self> {
        if !self.up || self.top > 0 {
            return Some(self);
        }
        (self.lines < self.bottom).then_some(Self { top: 1, ..self })
    }

    /// Applies the scroll to `rows`, as the terminal does. New rows are `blank`.
    pub(super) fn apply(self, rows: &mut [Arc<Row>], blank: &Arc<Row>) {
        let region = &mut rows[self.top..=self.bottom];
        debug_assert!((1..=region.len()).contains(&self.lines), "a scroll moves some rows");
        let exposed = if self.up {
            region.rotate_left(self.lines);
            let kept = region.len() - self.lines;
            &mut region[kept..]
        } else {
            region.rotate_right(self.lines);
            &mut region[..self.lines]
        };
        exposed.fill(Arc::clone(blank));
    }
}

/// Returns the scroll that moves most text to its new place. `None` if no scroll moves [`INK_MIN`] written cells.
///
/// Rows are compared by a hash. A collision only costs bytes, because drawing compares the rows again.
pub(super) fn find(shown: &[Arc<Row>], new: &[Arc<Row>]) -> Option<Scroll> {
    let differs = |&at: &usize| shown[at] != new[at];
    let first = (0..new.len()).find(differs)?;
    let last = (first + 1..new.len()).rev().find(differs)?;
    let old: Vec<Print> = shown[first..=last].iter().map(|row| Print::of(row)).collect();
    let new: Vec<Print> = new[first..=last].iter().map(|row| Print::of(row)).collect();
    let unique = unique_rows(&old);

    let mut best: Option<(usize, Scroll)> = None;
    // The key is a distance by which blocks moved. The value is the row after the last examined block.
    let mut followed: BTreeMap<isize, usize> = BTreeMap::new();
    for (to, print) in new.iter().enumerate() {
        let Some(&from) = unique.get(&print.hash) else { continue };
        let shift = from.cast_signed() - to.cast_signed();
        if shift == 0 || followed.get(&shift).is_some_and(|&end| to < end) {
            continue;
        }
        let block = Block::around(&old, &new, from, to);
        followed.insert(shift, to + block.after);
        if block.ink >= INK_MIN && best.is_none_or(|(ink, _)| block.ink > ink) {
            let (top_from, top_to) = (from - block.before, to - block.before);
            let height = block.before + block.after;
            let scroll = Scroll {
                top: first + top_from.min(top_to),
                bottom: first + top_from.max(top_to) + height - 1,
                lines: shift.unsigned_abs(),
                up: shift > 0,
            };
            best = Some((block.ink, scroll));
        }
    }
    best.map(|(_, scroll)| scroll)
}

/// A block of rows that has moved as a whole, found around a pair of equal rows on the two screens.
struct Block {
    before: usize,
    after: usize,
    /// The number of written cells that a scroll of this block moves to their new places.
    ink: usize,
}

impl Block {
    fn around(old: &[Print], new: &[Print], from: usize, to: usize) -> Self {
        let equal = |(a, b): &(&Print, &Print)| a.hash == b.hash;
        let above = old[..from].iter().rev().zip(new[..to].iter().rev());
        let before = above.take_while(equal).count();
        let after = old[from..].iter().zip(&new[to..]).take_while(equal).count();
        let ink = (to - before..to + after)
            .filter(|&at| old[at].hash != new[at].hash)
            .map(|at| new[at].ink)
            .sum();
        Self { before, after, ink }
    }
}

/// Returns a map from each hash that only one row has to the index of this row.
fn unique_rows(rows: &[Print]) -> BTreeMap<u64, usize> {
    let mut sorted: Vec<(u64, usize)> =
        rows.iter().enumerate().map(|(at, print)| (print.hash, at)).collect();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() == 1).map(|same| same[0]).collect()
}

/// The hash of a row's content, and the number of its written cells.
struct Print {
    hash: u64,
    /// The number of cells that are not empty.
    ink: usize,
}

impl Print {
    fn of(row: &Row) -> Self {
        let mut mix = Mix(0);
        let mut ink = 0;
        for cell in row.cells.iter() {
            mix.write_u32(cell.base.map_or(0, u32::from));
            if cell.pen != Pen::default() {
                cell.pen.hash(&mut mix);
            }
            ink += usize::from(!cell.is_blank());
        }
        row.marks.hash(&mut mix);
        row.decorations.hash(&mut mix);
        Self { hash: mix.finish(), ink }
    }
}

/// A fast hasher that does not resist attacks: a collision only costs bytes.
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks();
        words.iter().for_each(|word| self.write_u64(u64::from_le_bytes(*word)));
        rest.iter().for_each(|&byte| self.write_u32(u32::from(byte)));
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u32(u32::from(number));
    }

    fn write_u32(&mut self, number: u32) {
        // The multiplier is FNV-1a's. The rotation moves the high bits down.
        self.0 = (self.0.rotate_left(23) ^ u64::from(number)).wrapping_mul(0x0000_0100_0000_01b3);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(u64::from_ne_bytes(i64::try_from(number).unwrap_or(0).to_ne_bytes()));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(23) ^ number).wrapping_mul(0x0000_0100_0000_01b3);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
