//! A tick of the random walk on the linear grid: every bin but that of an outage goes to its neighbours in the same way.
//!
//! The result is the product with the rows of the grid, in a quarter of the time.

use crate::sprout::grid::{Grid, Row};
use crate::sprout::occupied;

/// The way from a bin to its neighbours.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    /// The share that stays, and those that go one bin up or down, two, and so on.
    shares: Vec<f32>,
}

impl Kernel {
    /// Creates the kernel of a linear grid.
    pub(crate) fn new(grid: &Grid) -> Self {
        // A bin in the middle, from which no way ends at the grid's ends.
        let middle = grid.rows.len() / 2;
        let row = &grid.rows[middle];
        Self { shares: row.shares[middle - row.first..].to_vec() }
    }

    /// Writes a belief as it is a tick later. `outage` is the row of the first bin.
    pub(crate) fn evolve(&self, outage: &Row, shares: &[f32], next: &mut Vec<f32>) {
        let reach = self.shares.len() - 1;
        let bins = shares.len();
        // With room at both ends for what goes beyond them.
        next.clear();
        next.resize(bins + 2 * reach, 0.0);
        let range = occupied(shares);
        let first = range.start.max(1);
        let moving = &shares[first..range.end.max(first)];
        let from = first + reach;
        for (distance, share) in self.shares.iter().enumerate() {
            for first in [from - distance, from + distance] {
                add(&mut next[first..first + moving.len()], moving, *share);
                if distance == 0 {
                    break;
                }
            }
        }
        let below: f32 = next[..reach].iter().sum();
        let above: f32 = next[reach + bins..].iter().sum();
        next.copy_within(reach..reach + bins, 0);
        next.truncate(bins);
        next[0] += below;
        next[bins - 1] += above;
        for (next, part) in next.iter_mut().zip(&outage.shares) {
            *next += shares[0] * part;
        }
    }
}

fn add(to: &mut [f32], from: &[f32], share: f32) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += share * from);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sprout::grid::{OutageRow, Scale};

    #[test]
    fn it_is_the_product_with_the_rows() {
        let grid = Grid::new(Scale::Linear, OutageRow::default());
        let kernel = Kernel::new(&grid);
        assert_eq!(kernel.shares.len(), 37);
        for bin in [0, 1, 5, 128, 240, 256] {
            let mut shares = vec![0.0; 257];
            shares[bin] = 1.0;
            let mut next = Vec::new();
            kernel.evolve(&grid.rows[0], &shares, &mut next);
            let row = &grid.rows[bin];
            for (place, found) in next.iter().enumerate() {
                let expected = place.checked_sub(row.first).and_then(|it| row.shares.get(it));
                let off = (found - expected.copied().unwrap_or_default()).abs();
                assert!(off < 1e-6, "{bin} to {place}: off by {off}");
            }
        }
    }
}
