//! Traces from a stochastic process: Poisson deliveries at a rate that changes at random and is sometimes zero.
//!
//! Sprout models cellular links by this process (Winstein, Sivaraman, Balakrishnan: NSDI 2013, section 3.1).

use rove_units::{Duration, Stream};

use crate::chance::{exponential, normal};
use crate::trace::{OPPORTUNITIES_MAX, Trace, TraceError};

/// How often the rate changes, in milliseconds. Source: the tick of the Sprout paper, section 3.2.
const TICK_MILLIS: u32 = 20;

/// Length of a tick, in seconds.
const TICK: f64 = 0.02;

/// Highest rate allowed, in opportunities per second. Chosen: 12 Gbit/s, faster than any link of this kind.
const FASTEST_RATE: f64 = 1e6;

/// A doubly stochastic process of delivery opportunities.
///
/// In each tick of 20 ms, deliveries are Poisson with a constant rate. Between ticks the rate makes a normal step, and
/// is reflected at `rate_max`. A step to zero or below begins an outage. In each tick an outage may end with a step
/// upwards, with the probability that gives outages the mean length `outage_mean`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Synthetic {
    /// Rate at the start, in opportunities per second. `None`: a random rate, uniform up to `rate_max`.
    pub start: Option<f64>,
    /// Highest rate, in opportunities per second, up to a million.
    pub rate_max: f64,
    /// Standard deviation of the rate's change in a second, in opportunities per second.
    pub volatility: f64,
    /// Mean length of an outage.
    pub outage_mean: Duration,
    /// Length of the trace, rounded down to milliseconds. A trace may repeat after its length.
    pub length: Duration,
}

impl Default for Synthetic {
    /// Returns the Sprout paper's constants (section 3.1): rates up to 1000 packets/s, a volatility of 200 packets/s
    /// per root second, outages of 1 s. The length is two minutes.
    fn default() -> Self {
        Self {
            start: None,
            rate_max: 1_000.0,
            volatility: 200.0,
            outage_mean: Duration::from_secs(1),
            length: Duration::from_secs(120),
        }
    }
}

impl Synthetic {
    /// Makes a trace with random numbers from `chance`. It always has an opportunity at its end, even if the process
    /// has none there. The last entry of a trace is its length.
    ///
    /// # Errors
    ///
    /// Returns an error if the length is below a millisecond or above the 49 days that a trace can count. More
    /// opportunities than a trace may have are an error too.
    pub fn trace(&self, chance: Stream) -> Result<Trace, TraceError> {
        let end = u32::try_from(self.length.as_millis()).map_err(|_| TraceError::TooLong)?;
        let [rates, escapes, deliveries] = [0, 1, 2].map(|part| chance.fork(part));
        let deviation = self.volatility * TICK.sqrt();
        let escape = 1.0 - (-TICK / self.outage_mean.as_secs_f64()).exp();
        // NaN is treated as a rate of zero.
        let number = |rate: f64| if rate.is_nan() { 0.0 } else { rate };
        let rate_max = number(self.rate_max).clamp(0.0, FASTEST_RATE);
        let mut rate = match self.start {
            Some(start) => number(start).clamp(0.0, rate_max),
            None => chance.fork(3).at(0).unit() * rate_max,
        };
        let mut millis = Vec::new();
        for (tick, start) in (0_u64..).zip((0..end).step_by(20)) {
            push_tick(&mut millis, start, rate, deliveries.fork(tick));
            while millis.last().is_some_and(|last| *last >= end) {
                millis.pop();
            }
            if millis.len() > OPPORTUNITIES_MAX {
                return Err(TraceError::TooLong);
            }
            let step = deviation * normal(rates.at(tick));
            rate = match rate {
                stopped if stopped <= 0.0 && !escapes.at(tick).chance(escape) => 0.0,
                stopped if stopped <= 0.0 => step.abs().min(rate_max),
                rate => {
                    let next = rate + step;
                    if next > rate_max { 2.0 * rate_max - next } else { next }.max(0.0)
                }
            };
        }
        millis.push(end);
        Trace::from_millis(millis)
    }
}

/// Appends the deliveries of one tick, with exponential gaps between them.
fn push_tick(millis: &mut Vec<u32>, start: u32, rate: f64, gaps: Stream) {
    if rate <= 0.0 {
        return;
    }
    let mut elapsed = 0.0;
    for gap in 0.. {
        elapsed += 1e3 * exponential(gaps.at(gap)) / rate;
        if elapsed >= f64::from(TICK_MILLIS) {
            return;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "held within a tick just above"
        )]
        millis.push(start + elapsed as u32);
    }
}

#[cfg(test)]
mod tests {
    use rove_units::Seed;

    use super::*;

    fn trace(model: &Synthetic, seed: u64) -> Trace {
        model.trace(Seed::new(seed).stream("trace")).expect("a trace of bounded length")
    }

    #[test]
    fn a_seed_gives_one_trace_and_another_seed_another() {
        let model = Synthetic::default();
        assert_eq!(trace(&model, 1), trace(&model, 1));
        assert_ne!(trace(&model, 1), trace(&model, 2));
        assert_eq!(trace(&model, 1).period(), model.length);
    }

    #[test]
    fn a_rate_that_does_not_wander_gives_poisson_counts() {
        let model = Synthetic { start: Some(500.0), volatility: 0.0, ..Synthetic::default() };
        let trace = trace(&model, 3);
        let mut counts = vec![0.0; 1_200];
        for time in trace.times() {
            let bin = usize::try_from(time.as_millis() / 100).unwrap();
            counts.get_mut(bin).into_iter().for_each(|count| *count += 1.0);
        }
        let mean = counts.iter().sum::<f64>() / 1_200.0;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 1_200.0;
        assert!((mean - 50.0).abs() < 0.8, "mean of {mean} in 100 ms");
        assert!((variance / mean - 1.0).abs() < 0.15, "variance {variance}, mean {mean}");
    }

    #[test]
    fn a_wandering_rate_stays_within_its_bounds_and_has_outages() {
        let model = Synthetic { length: Duration::from_secs(600), ..Synthetic::default() };
        let trace = trace(&model, 4);
        let times: Vec<Duration> = trace.times().collect();
        let longest = times.windows(2).map(|pair| pair[1] - pair[0]).max().expect("many");
        assert!(
            (Duration::from_millis(300)..Duration::from_secs(12)).contains(&longest),
            "{longest:?}"
        );
        let in_second = |second| times.iter().filter(|time| time.as_secs() == second).count();
        let counts: Vec<usize> = (0..600).map(in_second).collect();
        assert!(counts.iter().all(|count| *count < 1_150), "{counts:?}");
        assert!(counts.iter().any(|count| *count < 100) && counts.iter().any(|count| *count > 700));
    }

    #[test]
    fn lengths_that_make_no_trace_are_refused() {
        let chance = Seed::new(1).stream("trace");
        let model = |length| Synthetic {
            length,
            start: Some(1_000.0),
            volatility: 0.0,
            ..Synthetic::default()
        };
        assert_eq!(model(Duration::ZERO).trace(chance), Err(TraceError::NoPeriod));
        assert_eq!(model(Duration::from_secs(6_000)).trace(chance), Err(TraceError::TooLong));
        assert_eq!(model(Duration::MAX).trace(chance), Err(TraceError::TooLong));
        assert_eq!(
            model(Duration::from_millis(1)).trace(chance).map(|it| it.period()),
            Ok(Duration::from_millis(1))
        );
    }
}
