//! Bisection: splits a rule so that each part has about half of its memories along each signal.

use rove_congestion::remy::{Axis, Domain, Memory, Rule};

/// Returns the parts of a rule, all with the rule's action. The rule is split along each of the first `signals`, at the
/// median of `memories`, at which the rule was followed. `None` if no split is possible.
pub(crate) fn bisect(rule: &Rule, memories: &[Memory], signals: usize) -> Option<Vec<Rule>> {
    let mut boxes = vec![rule.domain];
    for axis in Axis::ALL.into_iter().take(signals) {
        let Some(at) = cut(&rule.domain, memories, axis) else { continue };
        boxes = boxes.iter().flat_map(|domain| domain.split(axis, at)).collect();
    }
    let parts: Vec<Rule> =
        boxes.into_iter().map(|domain| Rule { domain, action: rule.action }).collect();
    (parts.len() > 1).then_some(parts)
}

/// Returns where to cut a domain on an axis: at the median, or in the middle if the median is the lower bound.
fn cut(domain: &Domain, memories: &[Memory], axis: Axis) -> Option<f64> {
    let (lower, upper) = (domain.lower[axis.index()], domain.upper[axis.index()]);
    let mut values: Vec<f64> = memories.iter().map(|memory| memory.get(axis)).collect();
    let middle = values.len() / 2;
    let median = if values.is_empty() {
        lower
    } else {
        *values.select_nth_unstable_by(middle, f64::total_cmp).1
    };
    let is_inside = |at: &f64| lower < *at && *at < upper;
    [median, lower + (upper - lower) / 2.0].into_iter().find(is_inside)
}

#[cfg(test)]
mod tests {
    use rove_congestion::remy::{Action, Table};

    use super::*;

    #[test]
    fn a_rule_is_split_at_its_medians_and_in_the_middle_where_the_median_is_the_bound() {
        let action = Action { multiple: 1.0, increment: 1, intersend_ms: 3.0 };
        let rule = Rule { domain: Domain::WHOLE, action };
        let memories: Vec<Memory> =
            (0..101).map(|it| Memory([f64::from(it), 0.0, 1.0, f64::from(it) * 2.0])).collect();
        let parts = bisect(&rule, &memories, 4).expect("parts");
        assert_eq!(parts.len(), 16);
        let edges: Vec<[f64; 4]> = parts.iter().map(|part| part.domain.upper).collect();
        assert_eq!(edges[0], [50.0, 81_920.0, 1.0, 100.0]);
        assert!(Table::new(Domain::WHOLE, parts).is_ok(), "they divide the box");
        assert_eq!(bisect(&rule, &memories, 1).expect("parts").len(), 2);
    }

    #[test]
    fn a_box_too_small_for_a_cut_stays_whole() {
        let action = Action { multiple: 1.0, increment: 1, intersend_ms: 3.0 };
        let mut domain = Domain::WHOLE;
        domain.upper = domain.lower.map(f64::next_up);
        assert_eq!(bisect(&Rule { domain, action }, &[], 4), None);
    }
}
