//! The model of a link before the link is seen: the grid, the likelihood of each count, and the distributions of what arrives
//! from each rate on. The model is computed once and shared.

use std::sync::{Arc, OnceLock};

use crate::sprout::belief::Count;
use crate::sprout::grid::{Grid, OutageRow, Scale};
use crate::sprout::horizon::Horizons;
use crate::sprout::kernel::Kernel;
use crate::sprout::spread::{Spread, Ticks};
use crate::sprout::{FORECAST_TICKS, TICK_SECONDS, float, single};

/// Counts whose likelihoods are kept in a table. Chosen: those of a tick at the linear grid's highest rate.
const TABLED: u32 = 30;

/// The model of all links of a kind.
#[derive(Debug)]
pub(crate) struct Model {
    grid: Grid,
    /// The logarithm of the packets that each bin expects in a tick.
    log_means: Vec<f64>,
    /// For each count the likelihood in each bin.
    likelihoods: Vec<Vec<f32>>,
    /// For each count the likelihood of at least so many.
    at_leasts: Vec<Vec<f32>>,
    horizons: OnceLock<Horizons>,
    /// Whether the tables have room for the packets of a tick at every rate.
    has_tables: bool,
    spread: Spread,
    kernel: Option<Kernel>,
}

impl Model {
    pub(crate) fn new(scale: Scale, outage: OutageRow) -> Self {
        let grid = Grid::new(scale, outage);
        let log_means: Vec<f64> =
            grid.rates.iter().map(|rate| (rate * TICK_SECONDS).ln()).collect();
        let poisson = |count: u32| {
            grid.rates.iter().map(move |rate| single(poisson(count, rate * TICK_SECONDS)))
        };
        let likelihoods = (0..TABLED).map(|count| poisson(count).collect()).collect();
        let least = |count: u32| {
            let of = move |rate: &f64| single(at_least(count, rate * TICK_SECONDS));
            grid.rates.iter().map(of)
        };
        let at_leasts = (0..TABLED).map(|count| least(count).collect()).collect();
        let has_tables = scale == Scale::Linear;
        let ticks = if has_tables { Ticks::Independent } else { Ticks::Correlated };
        let spread = Spread::new(&grid, ticks);
        let kernel = has_tables.then(|| Kernel::new(&grid));
        Self {
            grid,
            log_means,
            likelihoods,
            at_leasts,
            horizons: OnceLock::new(),
            has_tables,
            spread,
            kernel,
        }
    }

    /// Returns the model of a scale with the published row of an outage. All that ask share it.
    pub(crate) fn shared(scale: Scale) -> Arc<Self> {
        static SHARED: [OnceLock<Arc<Model>>; 2] = [OnceLock::new(), OnceLock::new()];
        let place = usize::from(scale == Scale::Wide);
        let make = || Arc::new(Self::new(scale, OutageRow::Published));
        Arc::clone(SHARED[place].get_or_init(make))
    }

    #[cfg(test)]
    pub(crate) const fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Returns how many bins the grid has.
    pub(crate) const fn bins(&self) -> usize {
        self.grid.rates.len()
    }

    /// Returns what arrives from each bin on. It is computed when it is first asked for.
    pub(crate) fn horizons(&self) -> &Horizons {
        self.horizons.get_or_init(|| Horizons::new(&self.grid))
    }

    /// Writes a belief as it is a tick later, up to a common factor.
    pub(crate) fn evolve(&self, shares: &[f32], next: &mut Vec<f32>) {
        if let Some(kernel) = &self.kernel {
            return kernel.evolve(&self.grid.rows[0], shares, next);
        }
        next.clear();
        next.resize(shares.len(), 0.0);
        for (row, share) in self.grid.rows.iter().zip(shares).filter(|(_, share)| **share > 0.0) {
            for (next, part) in next[row.first..].iter_mut().zip(&row.shares) {
                *next += share * part;
            }
        }
    }

    /// Returns the least count of some ticks together that is not exceeded with at least the probability `quantile`.
    pub(crate) fn quantile(&self, shares: &[f32], ticks: usize, quantile: f64) -> u64 {
        if self.has_tables && (1..=FORECAST_TICKS).contains(&ticks) {
            self.horizons().quantile(shares, ticks, quantile).into()
        } else {
            self.spread.quantile(shares, ticks, quantile)
        }
    }

    /// Writes the likelihood of a count in each bin, up to a common factor.
    pub(crate) fn likelihood(&self, count: Count, into: &mut Vec<f32>) {
        into.clear();
        match count {
            Count::Exactly(count) => {
                let tabled = usize::try_from(count).ok().and_then(|it| self.likelihoods.get(it));
                match tabled {
                    Some(likelihoods) => into.extend(likelihoods),
                    None => self.computed(count, into),
                }
            }
            Count::AtLeast(count) => {
                match usize::try_from(count).ok().and_then(|it| self.at_leasts.get(it)) {
                    Some(likelihoods) => into.extend(likelihoods),
                    None => {
                        let least = |rate: &f64| single(at_least(count, rate * TICK_SECONDS));
                        into.extend(self.grid.rates.iter().map(least));
                    }
                }
            }
        }
    }

    /// Writes the likelihood of a large count, the largest as 1: none is too small for the type then.
    fn computed(&self, count: u32, into: &mut Vec<f32>) {
        let count = f64::from(count);
        let of = |(log, rate): (&f64, &f64)| count * log - rate * TICK_SECONDS;
        let logs = || self.log_means.iter().zip(&self.grid.rates).map(of);
        let highest = logs().fold(f64::NEG_INFINITY, f64::max);
        into.extend(logs().map(|log| single((log - highest).exp())));
    }
}

/// Returns the probability of `count` events where `mean` are expected.
pub(crate) fn poisson(count: u32, mean: f64) -> f64 {
    (1..=count).fold((-mean).exp(), |share, number| share * mean / f64::from(number))
}

/// Returns the probability of at least `count` events where `mean` are expected.
fn at_least(count: u32, mean: f64) -> f64 {
    if count == 0 {
        return 1.0;
    }
    if mean <= 0.0 {
        return 0.0;
    }
    let count = f64::from(count);
    if mean > 50.0 || count > 60.0 {
        // The normal approximation with a correction for whole numbers: the sum below would take long.
        return 1.0 - crate::sprout::normal::cumulative((count - 0.5 - mean) / mean.sqrt());
    }
    let mut share = (-mean).exp();
    let mut below = 0.0;
    for number in 0..crate::sprout::whole(count) {
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
        let model = Model::new(Scale::Linear, OutageRow::default());
        let (mut tabled, mut computed) = (Vec::new(), Vec::new());
        model.likelihood(Count::Exactly(29), &mut tabled);
        model.computed(29, &mut computed);
        let ratio = tabled[200] / computed[200];
        for (one, other) in tabled.iter().zip(&computed).skip(100) {
            assert!((one / other / ratio - 1.0).abs() < 1e-4);
        }
        assert_eq!(computed.iter().position(|share| *share == 1.0), Some(256), "1450 packets/s");
        model.likelihood(Count::Exactly(1_000_000), &mut computed);
        assert!(computed.iter().all(|share| share.is_finite()));
    }
}
