//! Action range: the actions that a search tries for a rule in place of the rule's own action.

use rove_congestion::remy::Action;
use serde::Deserialize;

/// The values that a search tries for one part of an action.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Range {
    /// The least value.
    pub(crate) min: f64,
    /// The largest value.
    pub(crate) max: f64,
    /// The smallest change of the value.
    pub(crate) min_change: f64,
    /// The largest change of the value.
    pub(crate) max_change: f64,
    /// The ratio of a change to the next smaller change.
    pub(crate) factor: f64,
    /// The value of the first rule when a search begins.
    pub(crate) first: f64,
}

/// The values that a search tries for each part of an action.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct ActionRanges {
    /// Values of the window's multiple.
    pub(crate) window_multiple: Range,
    /// Values of the window's increment.
    pub(crate) window_increment: Range,
    /// Values of the time between packets.
    pub(crate) intersend_ms: Range,
}

impl Default for ActionRanges {
    /// Returns the ranges of the published evaluator, as observed.
    fn default() -> Self {
        let range = |min, max, min_change, max_change, first| Range {
            min,
            max,
            min_change,
            max_change,
            factor: 4.0,
            first,
        };
        Self {
            window_multiple: range(0.0, 1.0, 0.01, 0.5, 1.0),
            window_increment: range(0.0, 256.0, 1.0, 32.0, 1.0),
            intersend_ms: range(0.25, 3.0, 0.05, 1.0, 3.0),
        }
    }
}

impl Range {
    /// Returns `value`, and `value` less and plus each change, as far as they are within the limits.
    fn around(&self, value: f64) -> Vec<f64> {
        let mut values = vec![value];
        let mut change = self.min_change;
        while change <= self.max_change * (1.0 + 1e-9) {
            values.extend([value - change, value + change]);
            change *= self.factor;
        }
        values.retain(|it| *it == value || (self.min..=self.max).contains(it));
        values
    }
}

impl ActionRanges {
    /// Returns the action of the first rule when a search begins.
    pub(crate) fn first(&self) -> Action {
        action(self.window_multiple.first, self.window_increment.first, self.intersend_ms.first)
    }

    /// Returns all combinations of the parts' values around the parts of `from`. The first one is `from` itself.
    pub(crate) fn candidates(&self, from: &Action) -> Vec<Action> {
        let multiples = self.window_multiple.around(from.multiple);
        let increments = self.window_increment.around(f64::from(from.increment));
        let intersends = self.intersend_ms.around(from.intersend_ms);
        let mut actions: Vec<Action> = Vec::new();
        for multiple in &multiples {
            for increment in &increments {
                for intersend_ms in &intersends {
                    let action = action(*multiple, *increment, *intersend_ms);
                    if !actions.contains(&action) {
                        actions.push(action);
                    }
                }
            }
        }
        actions
    }

    /// Returns a sentence as the error if a range is contradictory or exceeds its limits.
    pub(super) fn check(&self) -> Result<(), String> {
        for (name, range, least, most) in [
            ("window_multiple", self.window_multiple, 0.0, 2.0),
            ("window_increment", self.window_increment, -1e6, 1e6),
            ("intersend_ms", self.intersend_ms, 1e-3, 1e5),
        ] {
            let Range { min, max, min_change, max_change, factor, first } = range;
            let is_within = least <= min && min <= first && first <= max && max <= most;
            let changes = min_change > 0.0 && min_change <= max_change && factor >= 1.5;
            // With ten changes in both directions, there would be thousands of actions.
            let count = (max_change / min_change).ln() / factor.ln();
            if !(is_within && changes && max_change.is_finite() && count < 10.0) {
                return Err(format!(
                    "search.actions.{name} cannot be: it needs {least} <= min <= first <= max <= {most}, a \
                     min_change above 0 and up to max_change, a factor of 1.5 or more, and at most ten changes"
                ));
            }
        }
        Ok(())
    }
}

/// Returns an action whose multiple and interval are cut to four decimals, as in the publications.
fn action(multiple: f64, increment: f64, intersend_ms: f64) -> Action {
    // A float for 0.29 may be slightly less than 0.29. The small addend prevents a cut to 0.2899.
    let cut = |value: f64| ((value * 1e4 + 1e-6).trunc()) / 1e4;
    #[expect(clippy::cast_possible_truncation, reason = "held within a million by the check")]
    let increment = increment as i32;
    Action { multiple: cut(multiple), increment, intersend_ms: cut(intersend_ms) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_the_published_grid_within_its_limits() {
        let ranges = ActionRanges::default();
        let middle = Action { multiple: 0.5, increment: 100, intersend_ms: 1.5 };
        let candidates = ranges.candidates(&middle);
        assert_eq!(candidates.len(), 343);
        assert_eq!(candidates[0], middle);
        assert!(candidates.contains(&Action { multiple: 0.34, increment: 116, intersend_ms: 0.7 }));
        // A window of a packet less is empty, and no multiple is above one, so these actions are missing.
        let corner = ranges.candidates(&ranges.first());
        assert_eq!(ranges.first(), Action { multiple: 1.0, increment: 1, intersend_ms: 3.0 });
        assert_eq!(corner.len(), 4 * 5 * 4);
    }

    #[test]
    fn a_range_that_cannot_be_is_refused() {
        let mut ranges = ActionRanges::default();
        ranges.intersend_ms.min = 0.0;
        assert!(ranges.check().expect_err("no time").contains("search.actions.intersend_ms"));
        for change in [f64::NAN, 0.0, 1e-9] {
            let mut ranges = ActionRanges::default();
            ranges.window_multiple.min_change = change;
            assert!(ranges.check().is_err(), "{change}");
        }
    }
}
