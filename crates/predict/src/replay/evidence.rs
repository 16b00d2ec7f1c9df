//! Counts of right and wrong predictions, and the factors by which they grow and decay.

/// Factor by which the number of required right predictions grows after each error that the user has seen. Chosen: a
/// habit that fails now and then soon stops being shown.
pub(super) const ERROR_FACTOR: u16 = 4;

/// Like [`ERROR_FACTOR`], for errors that mislead no user. Chosen: with 4, predicted line and column numbers add 0.2
/// percentage points less to the keys that are shown at once. Clocks and messages in the same rows change too.
const MILD_FACTOR: u16 = 2;

/// Most right predictions in a row that a habit may need to be shown. Chosen: nobody repeats a motion so often.
const NEEDED_MAX: u16 = 256;

/// Share of the counts that remains after each key of the same kind. Chosen: the counts cover about fifty keys.
const DECAY: f32 = 0.98;

/// Share of a class's counted errors that is kept after a right prediction, for all keys but characters and recalls.
/// Chosen: three right predictions after an error are enough to trust such keys again.
const FORGIVENESS: f32 = 0.5;

/// Counts how often in a row a prediction was right, and how often it must be right to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Evidence {
    streak: u16,
    needed: u16,
}

impl Evidence {
    /// Creates evidence with a count of 0, which requires `needed` right predictions in a row.
    pub(super) const fn needing(needed: u16) -> Self {
        debug_assert!(needed <= NEEDED_MAX, "no more proofs are needed than the most");
        Self { streak: 0, needed }
    }

    pub(super) const fn is_enough(self) -> bool {
        self.streak >= self.needed
    }

    /// Records that the prediction was right.
    pub(super) const fn confirm(&mut self) {
        self.streak = self.streak.saturating_add(1);
    }

    /// Records that the prediction was wrong. If the user saw it, more right predictions are required from then on.
    pub(super) fn refute(&mut self, was_shown: bool) {
        self.streak = 0;
        if was_shown {
            self.needed = self.needed.saturating_mul(ERROR_FACTOR).min(NEEDED_MAX);
        }
    }

    /// Records an error that the user saw, but that misleads nobody, such as a number far from the input. The required
    /// count grows only by [`MILD_FACTOR`].
    pub(super) fn refute_mildly(&mut self) {
        self.streak = 0;
        self.needed = self.needed.saturating_mul(MILD_FACTOR).min(NEEDED_MAX);
    }

    /// Resets the count, because the prediction itself has changed.
    pub(super) const fn restart(&mut self) {
        self.streak = 0;
    }
}

/// The weighted numbers of right and wrong predictions. Older predictions have less weight.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Share {
    pub(super) right: f32,
    pub(super) wrong: f32,
}

impl Share {
    pub(super) fn add(&mut self, is_right: bool) {
        self.right *= DECAY;
        self.wrong *= DECAY;
        if is_right {
            self.right += 1.0;
        } else {
            self.wrong += 1.0;
        }
        debug_assert!(self.right >= 0.0 && self.wrong >= 0.0, "no count is negative");
    }

    /// Reduces the counted errors to the share [`FORGIVENESS`].
    pub(super) fn forgive(&mut self) {
        self.wrong *= FORGIVENESS;
    }

    /// Returns the share of right predictions, from 0 to 1, including the predictions counted in `prior`.
    pub(super) fn estimate(self, prior: Self) -> f32 {
        let right = self.right + prior.right;
        let all = right + self.wrong + prior.wrong;
        let share = if all > 0.0 { right / all } else { 0.0 };
        debug_assert!((0.0..=1.0).contains(&share), "a share is between none and all");
        share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_error_that_was_seen_makes_more_proofs_needed() {
        let mut evidence = Evidence::needing(1);
        for needed in [1, 4, 16, 64, 256, 256] {
            for _ in 0..needed {
                assert!(!evidence.is_enough(), "{needed}");
                evidence.confirm();
            }
            assert!(evidence.is_enough());
            evidence.refute(false);
            for _ in 0..needed {
                assert!(!evidence.is_enough(), "an error that nobody saw costs the streak");
                evidence.confirm();
            }
            assert!(evidence.is_enough());
            evidence.refute(true);
        }
    }

    #[test]
    fn errors_are_outweighed_by_what_comes_true_later() {
        let prior = Share { right: 30.0, wrong: 0.3 };
        let mut share = Share::default();
        let first = share.estimate(prior);
        share.add(false);
        let after_error = share.estimate(prior);
        assert!(after_error < first);
        (0..100).for_each(|_| share.add(true));
        assert!(share.estimate(prior) > after_error);
        share.forgive();
        assert!(share.wrong < 0.1);
    }
}
