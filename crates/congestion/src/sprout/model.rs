//! The model of a link before the link is observed: the grid of rates, the likelihood of each count, and the
//! distributions of later arrivals. The model is computed once, and all estimators share it.

use std::sync::{Arc, OnceLock};

use crate::numbers::{float, single};
use crate::sprout::columns::Columns;
use crate::sprout::grid::{Grid, Scale};
use crate::sprout::horizon::{Horizons, poisson};
use crate::sprout::kernel::Kernel;
use crate::sprout::spread::{Spread, Ticks};
use crate::sprout::terms::Count;
use crate::sprout::terms::{FORECAST_TICKS, TICK_SECONDS};

/// Number of counts whose likelihoods are in a table. Chosen: the counts of a tick at the linear grid's highest rate.
const TABLED: u32 = 30;

/// The model of all links whose rates are on the same scale.
#[derive(Debug)]
pub(crate) struct Model {
    grid: Grid,
    /// The logarithm of the packets expected in a tick, for each bin.
    log_means: Vec<f64>,
    /// The likelihood of each count (first index) in each bin (second index).
    likelihoods: Vec<Vec<f32>>,
    /// The likelihood of at least each count (first index) in each bin (second index).
    at_leasts: Vec<Vec<f32>>,
    horizons: OnceLock<Horizons>,
    /// Whether the tables of `horizons` have room for the packets of a tick at every rate.
    has_tables: bool,
    spread: Spread,
    walk: Walk,
}

/// How a tick of the random walk is computed.
#[derive(Debug)]
enum Walk {
    /// The tick of the linear grid, where all bins but an outage have the same transition probabilities.
    Even(Kernel),
    /// The tick of any other grid, where each bin has its own transition probabilities.
    Uneven(Columns),
}

impl Model {
    pub(crate) fn new(scale: Scale) -> Self {
        let grid = Grid::new(scale);
        let log_means: Vec<f64> =
            grid.rates.iter().map(|rate| (rate * TICK_SECONDS).ln()).collect();
        let poisson = |count: u32| {
            grid.rates.iter().map(move |rate| single(poisson(count, rate * TICK_SECONDS)))
        };
        let likelihoods = (0..TABLED).map(|count| poisson(count).collect()).collect();
        let at_leasts = (0..TABLED).map(|count| at_leasts(&grid, count)).collect();
        let has_tables = scale == Scale::Linear;
        let ticks = if has_tables { Ticks::Independent } else { Ticks::Correlated };
        let spread = Spread::new(&grid, ticks);
        let walk = match scale {
            Scale::Linear => Walk::Even(Kernel::new(&grid)),
            Scale::Wide => Walk::Uneven(Columns::new(&grid)),
        };
        Self {
            grid,
            log_means,
            likelihoods,
            at_leasts,
            horizons: OnceLock::new(),
            has_tables,
            spread,
            walk,
        }
    }

    /// Returns the model of a scale. All callers share it.
    pub(crate) fn shared(scale: Scale) -> Arc<Self> {
        static SHARED: [OnceLock<Arc<Model>>; 2] = [OnceLock::new(), OnceLock::new()];
        let place = usize::from(scale == Scale::Wide);
        let make = || Arc::new(Self::new(scale));
        Arc::clone(SHARED[place].get_or_init(make))
    }

    #[cfg(test)]
    pub(crate) const fn grid(&self) -> &Grid {
        &self.grid
    }

    pub(crate) const fn bins(&self) -> usize {
        self.grid.rates.len()
    }

    /// Returns the distributions of later arrivals from each bin. The first call computes them.
    pub(crate) fn horizons(&self) -> &Horizons {
        self.horizons.get_or_init(|| Horizons::new(&self.grid))
    }

    /// Computes the belief a tick after `shares` into `next`, up to a common factor. `work` is scratch memory.
    pub(crate) fn evolve(&self, shares: &[f32], next: &mut Vec<f32>, work: &mut Vec<f32>) {
        match &self.walk {
            Walk::Even(kernel) => kernel.evolve(shares, next, work),
            Walk::Uneven(columns) => columns.evolve(shares, next),
        }
    }

    /// Returns the least count that the packets of `ticks` ticks do not exceed with the probability `quantile`. The
    /// search is short if `guess` is near the result.
    pub(crate) fn quantile(&self, shares: &[f32], ticks: usize, quantile: f64, guess: u64) -> u64 {
        if self.has_tables && (1..=FORECAST_TICKS).contains(&ticks) {
            self.horizons().quantile(shares, ticks, quantile, guess)
        } else {
            self.spread.quantile(shares, ticks, quantile, guess)
        }
    }

    /// Multiplies the probability of each bin by the likelihood of a count, up to a common factor.
    pub(crate) fn weigh(&self, count: Count, shares: &mut [f32]) {
        let tabled = |tables: &'_ [Vec<f32>], count: u32| -> Option<usize> {
            usize::try_from(count).ok().filter(|place| *place < tables.len())
        };
        let computed: Vec<f32>;
        let likelihoods = match count {
            Count::Exactly(count) => match tabled(&self.likelihoods, count) {
                Some(place) => &self.likelihoods[place],
                None => {
                    computed = self.likelihood(count);
                    &computed
                }
            },
            Count::AtLeast(count) => match tabled(&self.at_leasts, count) {
                Some(place) => &self.at_leasts[place],
                None => {
                    computed = at_leasts(&self.grid, count);
                    &computed
                }
            },
        };
        shares.iter_mut().zip(likelihoods).for_each(|(share, likely)| *share *= likely);
    }

    /// Returns the likelihood of a large count in each bin, scaled to at most 1. Unscaled, all could round to zero.
    fn likelihood(&self, count: u32) -> Vec<f32> {
        let count = f64::from(count);
        let of = |(log, rate): (&f64, &f64)| count * log - rate * TICK_SECONDS;
        let logs = || self.log_means.iter().zip(&self.grid.rates).map(of);
        let highest = logs().fold(f64::NEG_INFINITY, f64::max);
        logs().map(|log| single((log - highest).exp())).collect()
    }
}

/// Returns for each bin the likelihood of at least `count` packets in a tick.
fn at_leasts(grid: &Grid, count: u32) -> Vec<f32> {
    grid.rates.iter().map(|rate| single(at_least(count, rate * TICK_SECONDS))).collect()
}

/// Returns the probability of at least `count` events if `mean` are expected (Poisson).
fn at_least(count: u32, mean: f64) -> f64 {
    if count == 0 {
        return 1.0;
    }
    if mean <= 0.0 {
        return 0.0;
    }
    let count = f64::from(count);
    if mean > 50.0 || count > 60.0 {
        // The normal approximation, corrected for whole numbers, replaces the sum below, which would take long.
        return 1.0 - crate::sprout::normal::cumulative((count - 0.5 - mean) / mean.sqrt());
    }
    let mut share = (-mean).exp();
    let mut below = 0.0;
    for number in 0..crate::numbers::whole(count) {
        below += share;
        share *= mean / (float(number) + 1.0);
    }
    (1.0 - below).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likelihoods_are_those_of_poisson_counts() {
        assert!((poisson(3, 2.0) - 0.180_447).abs() < 1e-6);
        assert!((poisson(0, 0.0) - 1.0).abs() < 1e-12 && poisson(2, 0.0) == 0.0);
        assert!((at_least(3, 2.0) - 0.323_324).abs() < 1e-6);
        assert!((at_least(100, 100.0) - 0.513).abs() < 8e-3, "{}", at_least(100, 100.0));
        assert!(at_least(1, 0.0) == 0.0 && at_least(4_000_000_000, 3.0) < 1e-9);
    }

    #[test]
    fn a_count_beyond_the_table_continues_it() {
        let model = Model::new(Scale::Linear);
        let mut tabled = vec![1.0; model.bins()];
        model.weigh(Count::Exactly(29), &mut tabled);
        let computed = model.likelihood(29);
        let ratio = tabled[200] / computed[200];
        for (one, other) in tabled.iter().zip(&computed).skip(100) {
            assert!((one / other / ratio - 1.0).abs() < 1e-4);
        }
        assert_eq!(computed.iter().position(|share| *share == 1.0), Some(256), "1450 packets/s");
        let mut weighed = vec![1.0; model.bins()];
        model.weigh(Count::Exactly(1_000_000), &mut weighed);
        assert!(weighed.iter().all(|share| share.is_finite()));
    }
}
