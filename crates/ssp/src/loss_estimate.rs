//! The share of datagrams that one direction of a path loses, updated with each datagram.
//!
//! A path may lose nothing for hours, and then a third of its datagrams. A mean over many datagrams adapts to this
//! change slowly, and a mean over few is imprecise. So the estimate is a weighted mean over all times at which the path
//! may last have changed. Each lost datagram among the newest may be the first after a change, with a probability that
//! follows from the datagrams after it. This is Bayesian online changepoint detection (Adams and MacKay 2007,
//! arXiv:0710.3742). A loss on a path that lost nothing makes a change likely. A further loss on a path that is known
//! to lose datagrams does not.

/// Number of newest datagrams that the estimate remembers one by one. Chosen: the bits of a word. At 29 % loss, the
/// lost share of so many has a standard deviation of six percentage points. That changes the number of copies of
/// contents by at most one.
pub(crate) const TOLD_APART: usize = 64;

/// Number of lost datagrams, besides [`ARRIVED_BEFORE`] arrived ones, that the estimate assumes before the first
/// datagram after a change (a beta distribution). So the assumed mean loss of a changed path is a quarter. Chosen:
/// docs/timing.md, "Loss that sets in suddenly".
const LOST_BEFORE: f64 = 0.5;
const ARRIVED_BEFORE: f64 = 1.5;

/// Prior probability that a loss is the first after a path change. Chosen: docs/timing.md, "Loss that sets in
/// suddenly".
const CHANGE: f64 = 1.0 / 64.0;

/// Number of arrivals after a loss during which the estimate stays above 0. Chosen: at 1 % loss, the next loss nearly
/// always comes within this number of arrivals.
const REMEMBERED: u32 = 512;

/// Number of arrivals after a loss in the other direction during which the estimate stays above 0. Chosen: a direction
/// in which so many datagrams arrive without a loss most likely loses less than a tenth.
const REMEMBERED_OF_OTHER: u32 = 32;

/// Smallest estimate above 0, as a share of the datagrams.
const RARE: f64 = 1.0 / 512.0;

/// An estimate of the loss of one direction of a path. A new path is assumed to lose nothing.
#[derive(Clone, Debug)]
pub(crate) struct LossEstimate {
    /// A bit for each of the newest datagrams, the lowest for the newest. The bit is set if the datagram was lost.
    lost: u64,
    /// During how many more arrivals the estimate stays above 0.
    remembered: u32,
    /// Entry `n` is the probability that the path last changed just before its newest `n` datagrams. The last entry
    /// covers all earlier changes.
    changed_before: [f64; TOLD_APART + 1],
    /// The mean of the lost shares after all possible changes, weighted by the probabilities of the changes.
    mean: f64,
}

impl Default for LossEstimate {
    fn default() -> Self {
        let mut changed_before = [0.0; TOLD_APART + 1];
        changed_before[TOLD_APART] = 1.0;
        let mut estimate = Self { lost: 0, remembered: 0, changed_before, mean: 0.0 };
        estimate.mean = estimate.rate_after(TOLD_APART);
        estimate
    }
}

impl LossEstimate {
    /// Records whether the next datagram arrived or was lost.
    pub(crate) fn handle_datagram(&mut self, is_lost: bool) {
        if !is_lost && self.lost == 0 {
            // While no loss is remembered, the last entry (no recent change) keeps the probability 1.
            debug_assert!(self.changed_before[TOLD_APART] == 1.0, "no loss, no change");
            self.remembered = self.remembered.saturating_sub(1);
            return;
        }
        if is_lost {
            self.changed_before = self.changed_before.map(|earlier| earlier * (1.0 - CHANGE));
            self.changed_before[0] += CHANGE;
        }
        let mut changed_before = [0.0; TOLD_APART + 1];
        for (count, probability) in self.changed_before.iter().enumerate() {
            let lost = self.rate_after(count);
            let likelihood = if is_lost { lost } else { 1.0 - lost };
            changed_before[(count + 1).min(TOLD_APART)] += probability * likelihood;
        }
        let sum: f64 = changed_before.iter().sum();
        self.changed_before = changed_before.map(|probability| probability / sum);
        self.lost = self.lost << 1 | u64::from(is_lost);
        self.remembered = if is_lost { REMEMBERED } else { self.remembered.saturating_sub(1) };
        let places = self.changed_before.iter().enumerate();
        self.mean = places.map(|(count, probability)| probability * self.rate_after(count)).sum();
    }

    /// Records that the newest `count` of the datagrams that counted as lost have arrived after all.
    pub(crate) fn handle_late(&mut self, count: u64) {
        if count == 0 {
            return;
        }
        let found = 0..count.min(TOLD_APART as u64);
        let lost = found.fold(self.lost, |lost, _| lost & lost.saturating_sub(1));
        *self = Self::default();
        for place in (0..TOLD_APART).rev() {
            self.handle_datagram(lost >> place & 1 == 1);
        }
    }

    /// Records a loss in the other direction, because a path that begins to lose mostly loses in both directions.
    pub(crate) fn handle_loss_of_other(&mut self) {
        self.remembered = self.remembered.max(REMEMBERED_OF_OTHER);
    }

    /// Returns the estimated share of datagrams that are lost, from 0 to 1; 0 only if no loss is remembered.
    pub(crate) fn rate(&self) -> f64 {
        if self.remembered == 0 { 0.0 } else { self.mean.max(RARE) }
    }

    /// Returns the share of datagrams that are lost if the path last changed before the newest `count` of them.
    fn rate_after(&self, count: usize) -> f64 {
        let newest = if count == 0 { 0 } else { u64::MAX >> (TOLD_APART - count) };
        let lost = f64::from((self.lost & newest).count_ones());
        #[expect(clippy::cast_precision_loss, reason = "at most TOLD_APART")]
        let count = count as f64;
        (LOST_BEFORE + lost) / (LOST_BEFORE + ARRIVED_BEFORE + count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the estimate after `arrived` arrivals and the datagrams `then`, each of which was lost (`x`) or not (`.`).
    fn after(arrived: u32, then: &str) -> LossEstimate {
        let mut estimate = LossEstimate::default();
        (0..arrived).for_each(|_| estimate.handle_datagram(false));
        then.chars().for_each(|it| estimate.handle_datagram(it == 'x'));
        estimate
    }

    #[test]
    fn a_path_that_loses_nothing_has_a_share_of_zero() {
        for arrived in [0, 1, 64, 1_000] {
            assert_eq!(after(arrived, "").rate(), 0.0);
        }
    }

    #[test]
    fn the_first_loss_is_worth_a_second_copy_and_two_close_losses_a_third() {
        for arrived in [0, 10, 100, 10_000] {
            let [one, two] = ["x", "x.x"].map(|then| after(arrived, then).rate());
            assert!((0.1..0.3).contains(&one) && (0.3..0.6).contains(&two), "{one} {two}");
        }
    }

    #[test]
    fn a_loss_that_stays_alone_is_soon_taken_for_chance_and_then_forgotten() {
        let mut estimate = after(100, "x.......");
        assert!(estimate.rate() < 0.04, "{}", estimate.rate());
        (7..64).for_each(|_| estimate.handle_datagram(false));
        assert!(estimate.rate() < 0.01, "{}", estimate.rate());
        (64..REMEMBERED - 1).for_each(|_| estimate.handle_datagram(false));
        assert!(estimate.rate() >= RARE);
        estimate.handle_datagram(false);
        assert_eq!(estimate.rate(), 0.0);
    }

    #[test]
    fn a_path_that_is_known_to_lose_some_is_not_thought_to_have_changed_by_a_loss() {
        let known = "...x...".repeat(20);
        let [before, now] = ["", "x"].map(|then| after(0, &format!("{known}{then}")).rate());
        assert!((0.1..0.2).contains(&before) && now < before + 0.05, "{before} {now}");
    }

    #[test]
    fn the_share_of_a_steady_path_is_found_within_what_chance_leaves() {
        for (loss, from, to) in [(0.01, 0.0, 0.04), (0.05, 0.03, 0.09), (0.29, 0.24, 0.36)] {
            let draws = rove_units::Seed::new(1).stream("loss");
            let mut estimate = LossEstimate::default();
            let mut sum = 0.0;
            for number in 0..5_000 {
                estimate.handle_datagram(draws.at(number).chance(loss));
                sum += estimate.rate();
            }
            let mean = sum / 5_000.0;
            assert!((from..to).contains(&mean), "{loss}: {mean}");
        }
    }

    #[test]
    fn a_loss_of_the_other_direction_is_worth_a_second_copy_for_a_while() {
        let mut estimate = after(100, "");
        estimate.handle_loss_of_other();
        (1..REMEMBERED_OF_OTHER).for_each(|_| estimate.handle_datagram(false));
        assert!(estimate.rate() > 0.0 && estimate.rate() < 0.02, "{}", estimate.rate());
        estimate.handle_datagram(false);
        assert_eq!(estimate.rate(), 0.0);
    }

    #[test]
    fn a_datagram_that_was_late_leaves_nothing_behind() {
        let mut estimate = after(100, "..x.");
        estimate.handle_late(1);
        assert_eq!(estimate.rate(), 0.0);
        let mut estimate = after(100, "x..x.");
        estimate.handle_late(1);
        assert_eq!(estimate.rate(), after(100, "x....").rate());
    }
}
