//! A tick of the random walk on the linear grid: every bin but that of an outage goes to its neighbours in the same way.
//!
//! The result is the product with the rows of the grid, in a tenth of the time: each share of the kernel counts for both
//! sides at once, and the sums stay in registers.

use crate::sprout::grid::{Grid, Row};
use crate::sprout::lanes::{self, LANES};

/// The way from a bin to its neighbours.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    /// The share that stays.
    middle: f32,
    /// The shares that go one bin up or down, two, and so on.
    sides: Vec<f32>,
    /// The shares of each of the first bins, the outage's first, that go to the outage.
    to_first: Vec<f32>,
    /// The shares of each of the last bins, the last one's last, that go to the last.
    to_last: Vec<f32>,
    /// The shares of an outage that go to each bin.
    from_outage: Vec<f32>,
}

impl Kernel {
    /// Creates the kernel of a linear grid.
    pub(crate) fn new(grid: &Grid) -> Self {
        // A bin in the middle, from which no way ends at the grid's ends.
        let middle = grid.rows.len() / 2;
        let row = &grid.rows[middle];
        let sides = row.shares[middle - row.first..].to_vec();
        let reach = sides.len() - 1;
        let bins = grid.rows.len();
        let share = |from: usize, to: usize| {
            let Row { first, shares } = &grid.rows[from];
            to.checked_sub(*first).and_then(|place| shares.get(place)).copied().unwrap_or_default()
        };
        Self {
            middle: sides[0],
            sides: sides[1..].to_vec(),
            to_first: (0..=reach).map(|from| share(from, 0)).collect(),
            to_last: (bins - 1 - reach..bins).map(|from| share(from, bins - 1)).collect(),
            from_outage: grid.rows[0].shares.clone(),
        }
    }

    /// Writes a belief as it is a tick later. `padded` is room for work.
    pub(crate) fn evolve(&self, shares: &[f32], next: &mut Vec<f32>, padded: &mut Vec<f32>) {
        let reach = self.sides.len();
        let bins = shares.len();
        let blocks = bins.div_ceil(LANES);
        // The bins with nothing around them, as many as are reached from the last block. The outage does not walk.
        padded.clear();
        padded.resize(blocks * LANES + 2 * reach, 0.0);
        padded[reach + 1..reach + bins].copy_from_slice(&shares[1..]);
        next.clear();
        for block in 0..blocks {
            next.extend(self.block(&padded[block * LANES..][..LANES + 2 * reach]));
        }
        next.truncate(bins);
        next[0] = lanes::dot(&self.to_first[1..], &shares[1..]);
        next[bins - 1] = lanes::dot(&self.to_last, &shares[bins - 1 - reach..]);
        for (next, part) in next.iter_mut().zip(&self.from_outage) {
            *next += shares[0] * part;
        }
    }

    /// Returns the shares of a block of bins, which are in the middle of `around`.
    fn block(&self, around: &[f32]) -> [f32; LANES] {
        let reach = self.sides.len();
        let mut sums: [f32; LANES] =
            core::array::from_fn(|lane| self.middle * around[reach + lane]);
        let below = around[..reach + LANES - 1].windows(LANES).rev();
        let above = around[reach + 1..].windows(LANES);
        for ((below, above), share) in below.zip(above).zip(&self.sides) {
            // Slices of a length that the compiler knows: it need not check each number's place.
            let (Some(below), Some(above)) = (below.first_chunk(), above.first_chunk()) else {
                break;
            };
            let (below, above): (&[f32; LANES], &[f32; LANES]) = (below, above);
            for lane in 0..LANES {
                sums[lane] += share * (below[lane] + above[lane]);
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sprout::grid::{OutageRow, Scale};

    #[test]
    fn it_is_the_product_with_the_rows() {
        for outage in [OutageRow::Published, OutageRow::Proper] {
            let grid = Grid::new(Scale::Linear, outage);
            let kernel = Kernel::new(&grid);
            assert_eq!(kernel.sides.len(), 36);
            let (mut next, mut padded) = (Vec::new(), Vec::new());
            for bin in 0..257 {
                let mut shares = vec![0.0; 257];
                shares[bin] = 1.0;
                kernel.evolve(&shares, &mut next, &mut padded);
                let row = &grid.rows[bin];
                assert_eq!(next.len(), 257);
                for (place, found) in next.iter().enumerate() {
                    let expected = place.checked_sub(row.first).and_then(|it| row.shares.get(it));
                    let off = (found - expected.copied().unwrap_or_default()).abs();
                    assert!(off < 1e-6, "{bin} to {place}: off by {off}");
                }
            }
        }
    }
}
