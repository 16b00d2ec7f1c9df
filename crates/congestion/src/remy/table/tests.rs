//! Valid tables, and tables that are refused.

use proptest::prelude::*;

use super::*;
use crate::remy::memory::AXES;

const ACTION: Action = Action { multiple: 1.0, increment: 1, intersend_ms: 3.0 };

fn rule(domain: Domain) -> Rule {
    Rule { domain, action: ACTION }
}

/// Splits the whole domain at each of `cuts`: a box's index, an axis's index, and the cut's position (0 to 1).
fn split_at(cuts: &[(usize, usize, f64)]) -> Vec<Rule> {
    let mut boxes = vec![Domain::WHOLE];
    for (which, axis, share) in cuts {
        let which = which % boxes.len();
        let axis = Axis::ALL[axis % AXES];
        let (lower, upper) = (boxes[which].lower[axis.index()], boxes[which].upper[axis.index()]);
        let at = lower + (upper - lower) * share;
        if lower < at && at < upper {
            let parts = boxes[which].split(axis, at);
            boxes.splice(which..=which, parts);
        }
    }
    boxes.into_iter().map(rule).collect()
}

proptest! {
    #[test]
    fn the_rule_of_a_memory_is_the_one_whose_box_has_it(
        cuts in prop::collection::vec((0..100_usize, 0..AXES, 0.01..0.99_f64), 0..60),
        memories in prop::collection::vec(prop::array::uniform4(0.0..163_840.0_f64), 20),
    ) {
        let table = Table::new(Domain::WHOLE, split_at(&cuts)).expect("parts of one box");
        let corners = table.rules().iter().map(|rule| Memory(rule.domain.lower));
        for memory in memories.into_iter().map(Memory).chain(corners) {
            prop_assert!(table.rules()[table.find(&memory)].domain.contains(&memory));
        }
    }

    #[test]
    fn a_box_too_few_or_twice_is_refused(
        cuts in prop::collection::vec((0..100_usize, 0..AXES, 0.01..0.99_f64), 1..40),
        which in 0..100_usize,
    ) {
        let rules = split_at(&cuts);
        let which = which % rules.len();
        let (mut fewer, mut twice) = (rules.clone(), rules);
        fewer.remove(which);
        twice.push(twice[which]);
        let refusal = Table::new(Domain::WHOLE, fewer).expect_err("a gap");
        let is_gap = matches!(refusal, TableError::Gap { .. } | TableError::NoRules);
        prop_assert!(is_gap, "{}", refusal);
        let refusal = Table::new(Domain::WHOLE, twice).expect_err("an overlap");
        let is_overlap = matches!(refusal, TableError::Overlap { .. });
        prop_assert!(is_overlap, "{}", refusal);
    }
}

#[test]
fn a_memory_beyond_the_domain_has_the_rule_at_the_border() {
    let [below, above] = Domain::WHOLE.split(Axis::SendEwma, 5.0);
    let table = Table::new(Domain::WHOLE, vec![rule(below), rule(above)]).expect("two halves");
    assert_eq!(table.find(&Memory([-1.0, 0.0, 0.0, 0.0])), 0);
    assert_eq!(table.find(&Memory([4.9, 1e9, 1e9, 1e9])), 0);
    assert_eq!(table.find(&Memory([5.0, 0.0, 0.0, 0.0])), 1, "the lower bound belongs to a box");
    assert_eq!(table.find(&Memory([1e9, 0.0, f64::INFINITY, 0.0])), 1);
    assert_eq!(table.dividing_axes(), [Axis::SendEwma]);
}

#[test]
fn a_box_of_no_width_is_for_no_memory() {
    let mut thin = Domain::WHOLE;
    (thin.lower[2], thin.upper[2]) = (1.0, 1.0);
    let table = Table::new(Domain::WHOLE, vec![rule(thin), rule(Domain::WHOLE)]).expect("one box");
    assert_eq!(table.find(&Memory([1.0; AXES])), 1);
    assert!(matches!(Table::new(Domain::WHOLE, vec![rule(thin)]), Err(TableError::Gap { .. })));
}

#[test]
fn boxes_and_actions_that_make_no_table_are_refused_with_their_place() {
    let refusal = |domain, action| {
        Table::new(Domain::WHOLE, vec![Rule { domain, action }]).expect_err("refused").to_string()
    };
    for (action, part) in [
        (Action { multiple: f64::NAN, ..ACTION }, "rule 1 cannot be: its window multiple is NaN"),
        (Action { multiple: -0.5, ..ACTION }, "window multiple is -0.5"),
        (Action { intersend_ms: f64::INFINITY, ..ACTION }, "time between packets is inf"),
        (Action { increment: i32::MIN, ..ACTION }, "window increment is -2147483648"),
    ] {
        let sentence = refusal(Domain::WHOLE, action);
        assert!(sentence.contains(part), "{sentence}");
    }
    let mut domain = Domain::WHOLE;
    domain.lower[2] = f64::NAN;
    assert!(refusal(domain, ACTION).contains("rule 1 cannot be: on rtt_ratio it goes from NaN"));
    domain.lower[2] = Domain::UPPER_BOUND + 1.0;
    assert!(refusal(domain, ACTION).contains("from 163841 to 163840"));
    assert_eq!(Table::new(Domain::WHOLE, Vec::new()), Err(TableError::NoRules));
    let many = split_at(&(0..RULES_MAX).map(|it| (it * 7_919, it, 0.5)).collect::<Vec<_>>());
    assert_eq!(many.len(), RULES_MAX + 1);
    assert_eq!(
        Table::new(Domain::WHOLE, many.clone()),
        Err(TableError::TooManyRules { max: RULES_MAX })
    );
}

#[test]
fn the_most_rules_that_a_table_may_have_are_looked_up() {
    let most = split_at(&(0..RULES_MAX - 1).map(|it| (it * 7_919, it, 0.5)).collect::<Vec<_>>());
    let table = Table::new(Domain::WHOLE, most).expect("as many as may be");
    assert_eq!(table.rules().len(), RULES_MAX);
}
