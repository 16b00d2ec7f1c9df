//! The belief in a link's rate: the probability of each bin of a grid of rates, updated by Bayes' rule.

use std::sync::Arc;

use crate::numbers::{float, single};
use crate::sprout::lanes;
use crate::sprout::model::Model;
use crate::sprout::terms::Count;

/// Least probability of a bin; a smaller one is set to zero. Chosen: smaller probabilities change no forecast visibly,
/// but slow the processor down. With 10^-15 in its place, the belief recognises an outage too late.
const NEGLIGIBLE: f32 = 1e-30;

/// A probability distribution of a link's rate.
#[derive(Clone, Debug)]
pub(crate) struct Belief {
    model: Arc<Model>,
    /// The probability of each bin. Seven digits are enough, because a forecast counts whole packets.
    shares: Vec<f32>,
    /// The probabilities of the next tick, while they are computed.
    next: Vec<f32>,
    /// Scratch memory for the computation.
    work: Vec<f32>,
}

impl Belief {
    /// Creates a belief in which all rates are equally likely.
    pub(crate) fn new(model: Arc<Model>) -> Self {
        let shares = vec![0.0; model.bins()];
        let mut belief = Self { shares, next: Vec::new(), work: Vec::new(), model };
        belief.reset();
        belief
    }

    /// Makes all rates equally likely.
    pub(crate) fn reset(&mut self) {
        self.shares.fill(1.0);
        self.normalise();
    }

    /// Makes an outage as likely as all rates together, which are equally likely.
    pub(crate) fn reset_to_outage(&mut self) {
        self.reset();
        self.shares[0] = 1.0;
        self.normalise();
    }

    /// Returns the probability of each bin. The probabilities sum to 1.
    pub(crate) fn shares(&self) -> &[f32] {
        &self.shares
    }

    /// Advances by a tick in which `count` was observed. `None` for a tick that shows nothing about the link.
    pub(crate) fn tick(&mut self, count: Option<Count>) {
        self.model.evolve(&self.shares, &mut self.next, &mut self.work);
        core::mem::swap(&mut self.shares, &mut self.next);
        if let Some(count) = count {
            self.model.weigh(count, &mut self.shares);
        }
        self.normalise();
    }

    fn normalise(&mut self) {
        let sum = lanes::sum(&self.shares);
        if sum > 0.0 && sum.is_finite() {
            let factor = 1.0 / sum;
            for share in &mut self.shares {
                *share = if *share > NEGLIGIBLE { *share * factor } else { 0.0 };
            }
        } else {
            // No rate of the grid explains the observation, so the belief is reset to equal probabilities.
            let share = 1.0 / single(float(self.shares.len()));
            self.shares.fill(share);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sprout::grid::Scale;

    fn belief(scale: Scale) -> Belief {
        Belief::new(Arc::new(Model::new(scale)))
    }

    fn mean(belief: &Belief) -> f64 {
        belief
            .shares
            .iter()
            .zip(&belief.model.grid().rates)
            .map(|(share, rate)| f64::from(*share) * rate)
            .sum()
    }

    #[test]
    fn counts_lead_to_their_rate_on_both_scales() {
        for scale in [Scale::Linear, Scale::Wide] {
            let mut belief = belief(scale);
            for _ in 0..100 {
                belief.tick(Some(Count::Exactly(8)));
            }
            assert!((mean(&belief) / 400.0 - 1.0).abs() < 0.1, "{scale:?}: {}", mean(&belief));
            let sum: f32 = belief.shares().iter().sum();
            assert!((sum - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn a_lower_bound_leaves_higher_rates_open() {
        let [mut exact, mut least] = [belief(Scale::Linear), belief(Scale::Linear)];
        for _ in 0..50 {
            for (belief, count) in
                [(&mut exact, Count::Exactly(3)), (&mut least, Count::AtLeast(3))]
            {
                belief.tick(Some(count));
            }
        }
        assert!(mean(&exact) < 200.0 && mean(&least) > 500.0, "{} {}", mean(&exact), mean(&least));
    }

    #[test]
    fn an_arrival_rules_out_an_outage_and_an_impossible_count_nothing() {
        let mut belief = belief(Scale::Linear);
        belief.tick(Some(Count::Exactly(1)));
        assert!(belief.shares()[0] == 0.0);
        belief.tick(Some(Count::Exactly(u32::MAX)));
        assert!((belief.shares().iter().sum::<f32>() - 1.0).abs() < 1e-5);
        belief.reset_to_outage();
        assert!((belief.shares()[0] - 0.5).abs() < 0.01);
    }
}
