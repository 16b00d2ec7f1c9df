//! The number of packets that arrive within some time, for each present rate, by the normal approximation. It serves
//! for rates and times beyond the tables of `horizon`.

use crate::numbers::float;
use crate::sprout::grid::Grid;
use crate::sprout::normal::Table;
use crate::sprout::quantile;
use crate::sprout::terms::TICK_SECONDS;

/// Longest forecast by the normal approximation, in ticks. A longer one is cut to it. Chosen: 20 s, after which a
/// random walk predicts nothing.
const TICKS_MAX: usize = 1_000;

/// Bins of at most this probability are left out. Chosen: all of them sum to a thousandth of a quantile at most.
const NEGLIGIBLE: f32 = 1e-7;

/// Whether the counts of two ticks depend on each other, given the rate before both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ticks {
    /// The counts are independent, as in the tables of `horizon`. This variant is for times beyond these tables.
    Independent,
    /// The counts depend on the rate's random walk, as in the paper's model. The forecast is more cautious.
    Correlated,
}

/// The random walk of the rate from each bin, for quantiles of the arrivals.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    ticks: Ticks,
    /// For each bin, its rate in packets/s, and the variance after a second of a random walk from this rate.
    bins: Vec<(f64, f64)>,
    normal: Table,
}

impl Spread {
    pub(crate) fn new(grid: &Grid, ticks: Ticks) -> Self {
        let variance = |deviation: &f64| deviation * deviation / TICK_SECONDS;
        let variances = grid.deviations.iter().map(variance);
        Self {
            ticks,
            bins: grid.rates.iter().copied().zip(variances).collect(),
            normal: Table::new(),
        }
    }

    /// Returns the least count that the packets of `ticks` ticks do not exceed with `probability`. The search starts at
    /// `guess`.
    pub(crate) fn quantile(
        &self,
        shares: &[f32],
        ticks: usize,
        probability: f64,
        guess: u64,
    ) -> u64 {
        let time = float(ticks.min(TICKS_MAX)) * TICK_SECONDS;
        // The variance of a Poisson count is its mean. The walk of the rate adds to the variance.
        let cubed = match self.ticks {
            Ticks::Independent => TICK_SECONDS * time.powi(2) / 2.0,
            Ticks::Correlated => time.powi(3) / 3.0,
        };
        let of = |(share, (rate, variance)): (&f32, &(f64, f64))| {
            let mean = rate * time;
            (f64::from(*share), mean, 1.0 / (mean + variance * cubed).sqrt())
        };
        let bins: Vec<(f64, f64, f64)> = shares
            .iter()
            .zip(&self.bins)
            .filter(|(share, _)| **share > NEGLIGIBLE)
            .map(of)
            .collect();
        let highest = bins.last().map_or(0.0, |(_, mean, _)| *mean);
        let most = u64::try_from(crate::numbers::whole(2.0 * highest)).unwrap_or(0);
        quantile::least(guess, [0, most], |count| {
            // A whole number covers all values up to half-way to the next number.
            let end = float(usize::try_from(count).unwrap_or(usize::MAX)) + 0.5;
            let below = |(share, mean, inverse): &(f64, f64, f64)| {
                share * self.normal.cumulative((end - mean) * inverse)
            };
            bins.iter().map(below).sum::<f64>() >= probability
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sprout::grid::Scale;
    use crate::sprout::horizon::Horizons;

    #[test]
    fn the_approximation_is_near_the_tables_where_both_are() {
        let grid = Grid::new(Scale::Linear);
        let (tables, spread) = (Horizons::new(&grid), Spread::new(&grid, Ticks::Independent));
        for bin in [30, 60, 120, 200] {
            let mut shares = vec![0.0; 257];
            (bin - 8..=bin + 8).for_each(|bin| shares[bin] = 1.0 / 17.0);
            for ticks in [6, 7, 8] {
                let exact = tables.quantile(&shares, ticks, 0.05, 0);
                let near = spread.quantile(&shares, ticks, 0.05, 0);
                // The tables ignore that the walk's steps correlate. So their forecast is less cautious.
                assert!(
                    near <= exact + 1 && near * 10 >= exact * 8,
                    "{bin} {ticks}: {near} {exact}"
                );
            }
        }
    }

    #[test]
    fn a_known_rate_has_the_quantile_of_its_normal_distribution() {
        let grid = Grid::new(Scale::Wide);
        let spread = Spread::new(&grid, Ticks::Correlated);
        let mut shares = vec![0.0; 256];
        shares[200] = 1.0;
        let (rate, time) = (grid.rates[200], 0.2);
        let deviation = (rate * time + (0.15 * rate).powi(2) / 0.02 * 0.008 / 3.0).sqrt();
        let expected = rate * time - 1.645 * deviation;
        let found = spread.quantile(&shares, 10, 0.05, 0);
        assert!(
            (float(usize::try_from(found).unwrap()) / expected - 1.0).abs() < 0.01,
            "{found} {expected}"
        );
    }
}
