//! Estimators make a forecast from the number of packets in each tick.

use core::fmt::Debug;
use std::sync::Arc;

use crate::numbers::whole;
use crate::sprout::belief::Belief;
use crate::sprout::grid::Scale;
use crate::sprout::model::Model;
use crate::sprout::terms::Count;
use crate::sprout::terms::{FORECAST_TICKS, QUANTILE};

/// First rate of a moving average, in packets per tick. Chosen: the first window is then 5 packets, as in [`Bayesian`].
const FIRST_RATE: f64 = 1.0;

/// Infers the rate of a link from the number of packets in each tick.
pub trait Estimator: Debug + Send {
    /// Advances by a tick in which `count` packets arrived. `None` for a tick that shows nothing about the link.
    fn tick(&mut self, count: Option<f64>);

    /// Returns how many packets are forecast to arrive within the next 1, 2, ... ticks.
    fn forecast(&self) -> [f64; FORECAST_TICKS];
}

/// Sprout's estimator: Bayesian inference of the rate, and a cautious forecast.
#[derive(Clone, Debug)]
pub struct Bayesian {
    model: Arc<Model>,
    belief: Belief,
    quantile: f64,
}

impl Bayesian {
    /// Creates the estimator of the paper: 95 % confidence, over up to 1000 packets/s.
    pub fn new() -> Self {
        Self::with_quantile(QUANTILE)
    }

    /// Creates an estimator whose forecast is too high with the probability `quantile`, from 0 to 1.
    pub fn with_quantile(quantile: f64) -> Self {
        Self::from_model(Model::shared(Scale::Linear), quantile)
    }

    /// Returns the probability of each rate of the grid: first of an outage, then of even steps up to 1000 packets/s.
    /// The probabilities sum to 1.
    pub fn belief(&self) -> &[f32] {
        self.belief.shares()
    }

    fn from_model(model: Arc<Model>, quantile: f64) -> Self {
        Self { belief: Belief::new(Arc::clone(&model)), model, quantile }
    }
}

impl Default for Bayesian {
    fn default() -> Self {
        Self::new()
    }
}

impl Estimator for Bayesian {
    fn tick(&mut self, count: Option<f64>) {
        self.belief.tick(count.map(|count| {
            // A part of a packet counts as a packet, because something has arrived. Source: the published program.
            let packets = if count > 0.0 { count.round().max(1.0) } else { 0.0 };
            Count::Exactly(u32::try_from(whole(packets)).unwrap_or(u32::MAX))
        }));
    }

    fn forecast(&self) -> [f64; FORECAST_TICKS] {
        self.model.horizons().quantiles(self.belief.shares(), self.quantile).map(f64::from)
    }
}

/// The estimator of Sprout-EWMA: a moving average of the rate, and a forecast without a safety margin.
#[derive(Clone, Debug)]
pub struct MovingAverage {
    gain: f64,
    /// The moving average of the rate, in packets per tick.
    rate: f64,
}

impl MovingAverage {
    /// The weight of a tick in the moving average. Chosen: neither the paper nor the published program gives it;
    /// `rove-lab figures sprout-gain` compares other weights.
    pub const GAIN: f64 = 0.125;

    /// Creates a moving average in which each tick has the weight `gain`.
    pub const fn new(gain: f64) -> Self {
        Self { gain, rate: FIRST_RATE }
    }
}

impl Estimator for MovingAverage {
    fn tick(&mut self, count: Option<f64>) {
        if let Some(count) = count {
            self.rate += self.gain * (count - self.rate);
        }
    }

    fn forecast(&self) -> [f64; FORECAST_TICKS] {
        core::array::from_fn(|tick| self.rate * (crate::numbers::float(tick) + 1.0))
    }
}
