//! A tick of the random walk on the linear grid, where all bins but an outage have the same transition probabilities.
//!
//! The result equals the product with the rows of the grid, in a tenth of the time. Each probability is used for both
//! directions at once, and the sums stay in registers.

use crate::sprout::grid::{Grid, Row};
use crate::sprout::lanes::{self, LANES};

/// The transition probabilities of a linear grid, which are the same for every bin but an outage.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    /// The probability of staying in a bin.
    middle: f32,
    /// The probabilities of moving by one bin, by two bins, and so on, in either direction.
    sides: Vec<f32>,
    /// The probability of moving to the outage, for each bin from the outage on that can reach it.
    to_first: Vec<f32>,
    /// The probability of moving to the last bin, for each bin that can reach it, up to the last bin itself.
    to_last: Vec<f32>,
    /// The probabilities of moving from an outage to each bin.
    from_outage: Vec<f32>,
}

impl Kernel {
    pub(crate) fn new(grid: &Grid) -> Self {
        // From a bin in the middle, no transition reaches an end of the grid.
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

    /// Writes to `next` the belief that follows `shares` a tick later. `padded` is scratch memory.
    pub(crate) fn evolve(&self, shares: &[f32], next: &mut Vec<f32>, padded: &mut Vec<f32>) {
        let reach = self.sides.len();
        let bins = shares.len();
        let blocks = bins.div_ceil(LANES);
        // Zeros surround the bins, because blocks reach beyond them. The outage is 0, because `from_outage` adds its
        // part.
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

    /// Returns a block of bins a tick later, without the outage's part. `around` has the block in its middle.
    fn block(&self, around: &[f32]) -> [f32; LANES] {
        let reach = self.sides.len();
        let mut sums: [f32; LANES] =
            core::array::from_fn(|lane| self.middle * around[reach + lane]);
        let below = around[..reach + LANES - 1].windows(LANES).rev();
        let above = around[reach + 1..].windows(LANES);
        for ((below, above), share) in below.zip(above).zip(&self.sides) {
            // The compiler knows the length of these slices, so it need not check each index.
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
    use crate::sprout::grid::Scale;

    #[test]
    fn it_is_the_product_with_the_rows() {
        let grid = Grid::new(Scale::Linear);
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
