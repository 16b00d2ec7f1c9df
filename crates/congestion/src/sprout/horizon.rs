//! The number of packets that arrive within the next ticks: tables of cumulative distributions, and their quantiles.
//!
//! For a given rate, the counts of different ticks are treated as independent, as in the published program. So the
//! distribution is a little narrower than that of the model, and the forecast a little less cautious.

use crate::numbers::single;
use crate::sprout::grid::Grid;
use crate::sprout::terms::{COUNT_MAX, FORECAST_TICKS, TICK_SECONDS};
use crate::sprout::{lanes, quantile};

/// Probability up to which bins at the grid's ends are left out. Chosen: 257 such bins sum to 1/5000 of 5 %.
const NEGLIGIBLE: f32 = 4e-8;

/// Distributions of the number of packets that arrive within 1, 2, ... ticks.
#[derive(Clone, Debug)]
pub(crate) struct Horizons {
    bins: usize,
    /// The probability that at most a count of packets arrives, for each number of ticks, each count and each bin.
    /// Single precision rounds by less than 10^-7, and takes half of double precision's memory.
    tables: Vec<Vec<f32>>,
}

/// The distributions of rates and of counts after some ticks, if the rate starts in one bin.
struct Path {
    rates: Vec<f64>,
    counts: Vec<f64>,
}

impl Horizons {
    /// Computes the tables of a grid for all ticks of a forecast.
    pub(crate) fn new(grid: &Grid) -> Self {
        let bins = grid.rates.len();
        let counts: Vec<Vec<f64>> = (0..=COUNT_MAX)
            .map(|count| {
                grid.rates.iter().map(|rate| poisson(count, rate * TICK_SECONDS)).collect()
            })
            .collect();
        let largest = usize::try_from(COUNT_MAX).expect("a small number");
        let len = |ticks: usize| (largest * ticks + 1) * bins;
        let mut tables: Vec<Vec<f32>> =
            (1..=FORECAST_TICKS).map(|ticks| vec![0.0; len(ticks)]).collect();
        for bin in 0..bins {
            let mut path = Path { rates: vec![0.0; bins], counts: vec![1.0] };
            path.rates[bin] = 1.0;
            for (tick, table) in tables.iter_mut().enumerate() {
                if tick > 0 {
                    path.evolve(grid);
                }
                path.count(&counts);
                let mut sum = 0.0;
                for (count, share) in path.counts.iter().enumerate() {
                    sum += share;
                    table[count * bins + bin] = single(sum);
                }
            }
        }
        Self { bins, tables }
    }

    /// Returns for 1, 2, ... ticks the least count that the arrivals do not exceed with the probability `quantile`.
    pub(crate) fn quantiles(&self, shares: &[f32], quantile: f64) -> [u32; FORECAST_TICKS] {
        let shares = weighty(shares);
        let mut quantiles = [0; FORECAST_TICKS];
        let (mut before, mut last, mut most) = (0, 0, 0);
        for (result, table) in quantiles.iter_mut().zip(&self.tables) {
            // Another tick brings no fewer packets in all, and probably about as many more as the last tick.
            most += u64::from(COUNT_MAX);
            let guess = 2 * last - before;
            let is_enough = |count| self.cumulative(table, count, shares) >= single(quantile);
            (before, last) = (last, quantile::least(guess, [last, most], is_enough));
            *result = u32::try_from(last).unwrap_or(u32::MAX);
        }
        quantiles
    }

    /// Returns the least count that the packets of `ticks` ticks do not exceed with the probability `quantile`. The
    /// search is short if `guess` is near the result. Returns 0 for a number of ticks without a table.
    pub(crate) fn quantile(&self, shares: &[f32], ticks: usize, quantile: f64, guess: u64) -> u64 {
        let Some(table) = ticks.checked_sub(1).and_then(|place| self.tables.get(place)) else {
            return 0;
        };
        let most = u64::try_from(table.len() / self.bins).unwrap_or(u64::MAX) - 1;
        let shares = weighty(shares);
        let is_enough = |count| self.cumulative(table, count, shares) >= single(quantile);
        quantile::least(guess, [0, most], is_enough)
    }

    /// Returns the probability of at most `count` packets. `shares` are the probabilities of the bins from `first` on.
    fn cumulative(&self, table: &[f32], count: u64, (first, shares): (usize, &[f32])) -> f32 {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let from = (count * self.bins).min(table.len() - self.bins) + first;
        lanes::dot(&table[from..from + shares.len()], shares)
    }
}

/// Returns the first bin above [`NEGLIGIBLE`], and the probabilities from this bin to the last such bin.
fn weighty(shares: &[f32]) -> (usize, &[f32]) {
    let is_weighty = |share: &f32| *share > NEGLIGIBLE;
    let first = shares.iter().position(is_weighty).unwrap_or(0);
    let end = shares.iter().rposition(is_weighty).map_or(0, |last| last + 1);
    (first, &shares[first..end.max(first)])
}

impl Path {
    fn evolve(&mut self, grid: &Grid) {
        let mut next = vec![0.0; self.rates.len()];
        for (row, share) in grid.rows.iter().zip(&self.rates).filter(|(_, share)| **share > 0.0) {
            for (next, part) in next[row.first..].iter_mut().zip(&row.shares) {
                *next += share * f64::from(*part);
            }
        }
        let sum: f64 = next.iter().sum();
        next.iter_mut().for_each(|share| *share /= sum);
        self.rates = next;
    }

    /// Adds the packets of a tick to the distribution of counts.
    fn count(&mut self, counts: &[Vec<f64>]) {
        let of_tick = |likelihoods: &Vec<f64>| -> f64 {
            likelihoods.iter().zip(&self.rates).map(|(likely, share)| likely * share).sum()
        };
        let tick: Vec<f64> = counts.iter().map(of_tick).collect();
        let mut sum = vec![0.0; self.counts.len() + tick.len() - 1];
        for (before, share) in self.counts.iter().enumerate() {
            for (next, more) in sum[before..].iter_mut().zip(&tick) {
                *next += share * more;
            }
        }
        self.counts = sum;
    }
}

/// Returns the probability of `count` events if `mean` are expected (Poisson).
pub(crate) fn poisson(count: u32, mean: f64) -> f64 {
    (1..=count).fold((-mean).exp(), |share, number| share * mean / f64::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sprout::grid::Scale;

    #[test]
    fn bisection_finds_what_a_scan_of_the_table_finds() {
        let grid = Grid::new(Scale::Linear);
        let horizons = Horizons::new(&grid);
        let size: usize = horizons.tables.iter().map(Vec::len).sum();
        assert_eq!(size, 257 * (29 * 36 + 8), "counts from 0 to 29 a tick");
        for bin in [0, 1, 20, 100, 256] {
            let mut shares = vec![0.2 / 257.0; 257];
            shares[bin] += 0.8;
            for quantile in [0.05, 0.25, 0.5, 0.95] {
                let found = horizons.quantiles(&shares, quantile);
                for (table, found) in horizons.tables.iter().zip(found) {
                    let is_enough = |count: &u32| {
                        horizons.cumulative(table, u64::from(*count), (0, &shares))
                            >= single(quantile)
                    };
                    let last = u32::try_from(table.len() / 257 - 1).expect("small");
                    let scanned = (0..=last).find(is_enough).unwrap_or(last);
                    assert!(found.abs_diff(scanned) == 0, "{bin} {quantile}: {found} {scanned}");
                }
            }
        }
    }
}
