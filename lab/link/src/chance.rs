//! Random numbers from distributions that are not uniform.
//!
//! The functions use `ln` and `cos` of the platform's C library. A seed gives the same numbers in every run of one
//! build. The last digits may differ between builds with different C libraries.

use core::f64::consts::TAU;

use rove_units::Draw;

/// Number of values of half a draw: 2^32, because a draw has 64 bits.
const STEPS: f64 = 4_294_967_296.0;

/// Returns a standard normal number, by the Box-Muller transform of the two halves of a draw. The result's magnitude is
/// at most 6.7, because each half has 32 bits.
pub(crate) fn normal(draw: Draw) -> f64 {
    let (radius, angle) = halves(draw);
    (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()
}

/// Returns an exponentially distributed number with mean 1.
pub(crate) fn exponential(draw: Draw) -> f64 {
    // `unit` is below 1, so the argument of `ln` is above 0.
    -(1.0 - draw.unit()).ln()
}

/// Returns two independent uniform numbers: one in `(0, 1]`, one in `[0, 1)`.
fn halves(draw: Draw) -> (f64, f64) {
    let bits = draw.bits();
    let high = u32::try_from(bits >> 32).unwrap_or(u32::MAX);
    let low = u32::try_from(bits & u64::from(u32::MAX)).unwrap_or(u32::MAX);
    ((f64::from(high) + 1.0) / STEPS, f64::from(low) / STEPS)
}

#[cfg(test)]
mod tests {
    use rove_units::Seed;

    use super::*;

    fn sample(of: fn(Draw) -> f64) -> Vec<f64> {
        let stream = Seed::new(5).stream("sample");
        (0..100_000).map(|number| of(stream.at(number))).collect()
    }

    fn moments(sample: &[f64]) -> (f64, f64) {
        let mean = sample.iter().sum::<f64>() / 1e5;
        let variance = sample.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e5;
        (mean, variance.sqrt())
    }

    #[test]
    fn normal_numbers_have_the_normal_moments_and_tails() {
        let sample = sample(normal);
        let (mean, deviation) = moments(&sample);
        assert!(mean.abs() < 0.01 && (deviation - 1.0).abs() < 0.01, "{mean} {deviation}");
        let beyond = sample.iter().map(|x| u32::from(x.abs() > 1.959_964)).sum::<u32>();
        assert!((4_800..5_200).contains(&beyond), "{beyond} of 5000 expected");
    }

    #[test]
    fn exponential_numbers_have_mean_and_deviation_one() {
        let (mean, deviation) = moments(&sample(exponential));
        assert!((mean - 1.0).abs() < 0.01 && (deviation - 1.0).abs() < 0.02, "{mean} {deviation}");
    }
}
