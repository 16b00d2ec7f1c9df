//! A tick of the random walk on any grid: for each bin, the sum over the bins that lead to it.

use crate::sprout::grid::Grid;
use crate::sprout::lanes;

/// The transition probabilities, grouped by the bin to which they lead. A sum for each bin is faster than additions for
/// each transition, because no intermediate result is stored.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    columns: Vec<Column>,
}

/// The transition probabilities to one bin.
#[derive(Clone, Debug, Default)]
struct Column {
    /// The first bin from which a transition leads to this bin.
    first: usize,
    /// The probabilities of the transitions from `first` and from the bins after it.
    shares: Vec<f32>,
}

impl Columns {
    /// Transposes the rows of a grid.
    pub(crate) fn new(grid: &Grid) -> Self {
        let mut columns = vec![Column::default(); grid.rows.len()];
        for (from, row) in grid.rows.iter().enumerate() {
            for (column, share) in columns[row.first..].iter_mut().zip(&row.shares) {
                if column.shares.is_empty() {
                    column.first = from;
                }
                // The bins that lead to a bin are neighbours. Each other bin between them gets a zero.
                column.shares.resize(from - column.first, 0.0);
                column.shares.push(*share);
            }
        }
        Self { columns }
    }

    /// Writes to `next` the belief that follows `shares` a tick later.
    pub(crate) fn evolve(&self, shares: &[f32], next: &mut Vec<f32>) {
        debug_assert_eq!(shares.len(), self.columns.len(), "each bin has its share");
        let to = |column: &Column| lanes::dot(&column.shares, &shares[column.first..]);
        next.clear();
        next.extend(self.columns.iter().map(to));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sprout::grid::Scale;

    #[test]
    fn it_is_the_product_with_the_rows() {
        let grid = Grid::new(Scale::Wide);
        let columns = Columns::new(&grid);
        let mut next = Vec::new();
        for (bin, row) in grid.rows.iter().enumerate() {
            let mut shares = vec![0.0; grid.rows.len()];
            shares[bin] = 1.0;
            columns.evolve(&shares, &mut next);
            assert_eq!(next.len(), grid.rows.len());
            for (place, found) in next.iter().enumerate() {
                let expected = place.checked_sub(row.first).and_then(|it| row.shares.get(it));
                assert!((found - expected.copied().unwrap_or_default()).abs() < 1e-7);
            }
        }
    }
}
