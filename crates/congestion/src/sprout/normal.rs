//! The standard normal distribution.

/// Points of the table of [`cumulative`] per standard deviation. Chosen: interpolation is then off by less than 10^-5,
/// and even 10^-3 would not show in a forecast.
const STEPS: f64 = 128.0;

/// Standard deviations beyond which the table has 0 or 1. Source: beyond them, 10^-15 is left, about the precision of
/// `f64`.
const END: f64 = 8.0;

/// Returns the probability that a standard normal variable is at most `x`.
/// Source: Abramowitz and Stegun, *Handbook of Mathematical Functions*, 7.1.26; off by 1.5 * 10^-7 at most.
pub(crate) fn cumulative(x: f64) -> f64 {
    let z = x.abs() / core::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let series = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let polynomial = series.into_iter().fold(0.0, |sum, term| (sum + term) * t);
    let tail = 0.5 * polynomial * (-z * z).exp();
    if x < 0.0 { tail } else { 1.0 - tail }
}

/// A table of [`cumulative`], which is faster for thousands of calls in a tick.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    values: Vec<f64>,
}

impl Table {
    pub(crate) fn new() -> Self {
        let points = crate::numbers::whole(2.0 * END * STEPS);
        let at = |point: usize| cumulative(crate::numbers::float(point) / STEPS - END);
        Self { values: (0..points + 2).map(at).collect() }
    }

    /// Returns the probability that a standard normal variable is at most `x`, from the table.
    pub(crate) fn cumulative(&self, x: f64) -> f64 {
        let place = (x.clamp(-END, END) + END) * STEPS;
        let point = crate::numbers::whole(place);
        let rest = place - crate::numbers::float(point);
        self.values[point] + rest * (self.values[point + 1] - self.values[point])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_printed_tables() {
        let table = Table::new();
        for (x, expected) in
            [(0.0, 0.5), (1.0, 0.841_345), (-1.644_854, 0.05), (2.575_829, 0.995), (-4.0, 3.17e-5)]
        {
            assert!((cumulative(x) - expected).abs() < 1e-6, "{x}");
            assert!((table.cumulative(x) - expected).abs() < 1e-5, "{x}");
        }
        assert_eq!(
            [table.cumulative(-1e9), table.cumulative(f64::MAX)].map(f64::round),
            [0.0, 1.0]
        );
    }
}
