//! The grid of rates that a belief distinguishes, and the probabilities of moving between them within a tick.

use crate::numbers::{float, single};
use crate::sprout::normal::cumulative;
use crate::sprout::terms::TICK_SECONDS;

/// Number of bins of the linear grid, with the bin of an outage. Source: the published program, which has one more than
/// the 256 of the Sprout paper (NSDI 2013), section 3.1.
const LINEAR_BINS: usize = 257;

/// Highest rate of the linear grid, in packets/s. Source: Sprout paper, section 3.1.
const LINEAR_TOP_RATE: f64 = 1_000.0;

/// Number of bins of the wide grid, with the bin of an outage. Chosen: forecasts do not show the grid's steps of 4.6 %.
const WIDE_BINS: usize = 256;

/// Lowest and highest rate of the wide grid, in packets/s. Chosen: 24 kbit/s to 2.4 Gbit/s.
const WIDE_RATES: [f64; 2] = [2.0, 200_000.0];

/// Standard deviation of a rate's change in a second, in packets/s. Source: Sprout paper, section 3.1.
const VOLATILITY: f64 = 200.0;

/// Least standard deviation of a rate's change in a tick on the wide grid, as a share of the rate. Chosen: the linear
/// grid has this share at 190 packets/s.
const RELATIVE_STEP: f64 = 0.15;

/// How often an outage ends, in outages per second. Source: Sprout paper, section 3.1.
const OUTAGE_ESCAPE: f64 = 1.0;

/// Largest change of a rate in a tick, in standard deviations. Source: the published program.
const REACH: f64 = 5.0;

/// The range of rates that a belief distinguishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// The rates go from 0 to 1000 packets/s in even steps, as in Sprout. A link above 12 Mbit/s looks like a link of
    /// 12 Mbit/s.
    #[default]
    Linear,
    /// The rates are 0 (an outage), and from 2 to 200 000 packets/s in even ratios, which suits all links.
    Wide,
}

/// A bin of the grid: a range of rates that the belief does not distinguish, in packets/s.
#[derive(Clone, Copy, Debug)]
struct Bin {
    rate: f64,
    low: f64,
    high: f64,
}

/// A row of the transition matrix: the probabilities of moving from one bin to the bins around it.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The first bin that can be reached.
    pub(crate) first: usize,
    /// The probabilities of moving to `first` and to the bins after it.
    pub(crate) shares: Vec<f32>,
}

/// The bins of a scale, and the transition probabilities between them.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    /// The rate of each bin, in packets per second. The first is 0, for an outage.
    pub(crate) rates: Vec<f64>,
    /// The standard deviation of each bin's rate after a tick, in packets/s.
    pub(crate) deviations: Vec<f64>,
    /// For each bin, the probabilities of the bins that the rate may be in a tick later.
    pub(crate) rows: Vec<Row>,
}

impl Grid {
    pub(crate) fn new(scale: Scale) -> Self {
        let bins = match scale {
            Scale::Linear => linear(),
            Scale::Wide => wide(),
        };
        let least = VOLATILITY * TICK_SECONDS.sqrt();
        let deviation = |bin: &Bin| match scale {
            Scale::Linear => least,
            Scale::Wide => least.max(RELATIVE_STEP * bin.rate),
        };
        let deviations: Vec<f64> = bins.iter().map(deviation).collect();
        let rows = (0..bins.len()).map(|from| row(&bins, from, deviations[from])).collect();
        Self { rates: bins.iter().map(|bin| bin.rate).collect(), deviations, rows }
    }
}

fn linear() -> Vec<Bin> {
    let width = LINEAR_TOP_RATE / 256.0;
    let bin = |number: usize| {
        let low = float(number) * width;
        Bin { rate: low + width / 2.0, low, high: low + width }
    };
    bounded((1..LINEAR_BINS).map(bin))
}

fn wide() -> Vec<Bin> {
    let [lowest, highest] = WIDE_RATES;
    let ratio = (highest / lowest).powf(1.0 / float(WIDE_BINS - 2));
    let bin = |number: usize| {
        let rate = lowest * ratio.powf(float(number - 1));
        Bin { rate, low: rate / ratio.sqrt(), high: rate * ratio.sqrt() }
    };
    bounded((1..WIDE_BINS).map(bin))
}

/// Puts the bin of an outage first. Extends this bin to minus infinity, and the last bin to infinity.
fn bounded(bins: impl Iterator<Item = Bin>) -> Vec<Bin> {
    let mut all = vec![Bin { rate: 0.0, low: f64::NEG_INFINITY, high: 0.0 }];
    all.extend(bins);
    all[0].high = all[1].low;
    let last = all.len() - 1;
    all[last].high = f64::INFINITY;
    all
}

/// Returns a bin's row: the probabilities of a random walk. For an outage, they are multiplied by the probability of
/// staying in it or of leaving it. So they do not sum to 1: an outage loses 45 % of its weight with each tick. Source:
/// the published program.
fn row(bins: &[Bin], from: usize, deviation: f64) -> Row {
    let rate = bins[from].rate;
    let (least, most) = (rate - REACH * deviation, rate + REACH * deviation);
    let first = bins.partition_point(|bin| bin.high < least);
    let share = |bin: &Bin| {
        cumulative((bin.high - rate) / deviation) - cumulative((bin.low - rate) / deviation)
    };
    let reached = bins[first..].iter().take_while(|bin| bin.low <= most);
    let mut shares: Vec<f64> = reached.map(share).collect();
    if from == 0 {
        let stay = (-OUTAGE_ESCAPE * TICK_SECONDS).exp();
        shares[0] *= stay;
        shares[1..].iter_mut().for_each(|share| *share *= 1.0 - stay);
    }
    Row { first, shares: shares.into_iter().map(single).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_sum_to_one_but_for_that_of_an_outage() {
        for scale in [Scale::Linear, Scale::Wide] {
            let grid = Grid::new(scale);
            for (row, rate) in grid.rows.iter().zip(&grid.rates).skip(1) {
                let sum: f32 = row.shares.iter().sum();
                assert!((sum - 1.0).abs() < 1e-5, "{scale:?} {rate}: {sum}");
            }
            if scale == Scale::Linear {
                // 0.9802 * 0.5549 + 0.0198 * 0.4451.
                let of_outage: f32 = grid.rows[0].shares.iter().sum();
                assert!((of_outage - 0.5527).abs() < 1e-4);
                assert_eq!(grid.rows[128].shares.len(), 73, "36 bins each way");
            }
        }
    }

    #[test]
    fn scales_have_their_bins_at_their_rates() {
        let linear = Grid::new(Scale::Linear).rates;
        assert_eq!((linear.len(), linear[0], linear[1]), (257, 0.0, 1.5 * 3.906_25));
        assert!((linear[256] - 1_001.953).abs() < 1e-3);
        let wide = Grid::new(Scale::Wide).rates;
        assert_eq!((wide.len(), wide[0], wide[1]), (256, 0.0, 2.0));
        assert!((wide[255] - 200_000.0).abs() < 1e-6 && (wide[2] / wide[1] - 1.046).abs() < 1e-3);
    }
}
