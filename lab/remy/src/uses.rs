//! Uses: the rules of a table that are used on the networks of a prior.
//!
//! The text also has the table's scores with only its most used actions. It ends with a flow's way through the rules.

use core::fmt::Write as _;

use anyhow::Result;
use rove_congestion::remy::{Rule, Table};
use rove_units::Instant;

use crate::control::{Control, Ruled};
use crate::evaluator::{Evaluation, Evaluator};

/// Most steps of a flow's way that are written. Chosen: as many as fit on a screen.
const STEPS_MAX: usize = 20;

/// A sender's control by a table. It records each change of the rule, with the time and the window.
struct Followed<'a> {
    ruled: Ruled<'a>,
    now: Instant,
    steps: Vec<(Instant, usize, u32)>,
}

impl Followed<'_> {
    fn note(&mut self) {
        let rule = self.ruled.rule();
        if self.steps.len() < STEPS_MAX && self.steps.last().is_none_or(|step| step.1 != rule) {
            self.steps.push((self.now, rule, self.ruled.window()));
        }
    }
}

impl Control for Followed<'_> {
    fn start(&mut self, now: Instant) {
        self.now = now;
        self.ruled.start(now);
        self.note();
    }

    fn acknowledge(&mut self, sent: Instant, received: Instant, lost: u64) {
        self.now = received;
        self.ruled.acknowledge(sent, received, lost);
    }

    fn decide(&mut self) {
        self.ruled.decide();
        self.note();
    }

    fn window(&self) -> u32 {
        self.ruled.window()
    }

    fn intersend_nanos(&self) -> u64 {
        self.ruled.intersend_nanos()
    }
}

/// Returns as text how a table's rules are used on the evaluator's networks.
///
/// # Errors
///
/// Returns an error if an evaluation panics, or if a score is not a number.
pub(crate) fn text(table: &Table, evaluator: &Evaluator<'_>) -> Result<String> {
    let Evaluation { score, uses } = evaluator.score(table)?;
    debug_assert_eq!(uses.len(), table.rules().len(), "each rule has its number of uses");
    let all = uses.iter().sum::<u64>().max(1) as f64;
    let mut by_use: Vec<usize> = (0..uses.len()).collect();
    by_use.sort_by_key(|rule| (core::cmp::Reverse(uses[*rule]), *rule));
    let used = by_use.iter().filter(|rule| uses[**rule] > 0);
    let shares: Vec<String> = used
        .map(|rule| format!("{} {:.1} %", rule + 1, uses[*rule] as f64 * 100.0 / all))
        .collect();
    let mut out =
        format!("{} of {} rules are used: {}\n", shares.len(), uses.len(), shares.join(", "));
    let counts: Vec<usize> = core::iter::successors(Some(1), |count| Some(count * 2))
        .take_while(|count| *count < shares.len())
        .collect();
    let pruned = counts.iter().map(|count| pruned(table, &by_use[..*count]));
    let pruned = pruned.collect::<Result<Vec<Table>>>()?;
    let worth = evaluator.scores(&pruned.iter().collect::<Vec<_>>())?;
    for (count, worth) in counts.iter().zip(worth) {
        let _ = writeln!(out, "score {:9.4} with {count} of the rules, the most used", worth.score);
    }
    let _ = writeln!(out, "score {score:9.4} with all");
    let control =
        |_| Followed { ruled: Ruled::new(table, None), now: Instant::ZERO, steps: Vec::new() };
    let first = evaluator.run_all(control).into_iter().next().transpose()?;
    for (at, rule, window) in first.iter().flat_map(|run| &run.controls[0].steps) {
        let millis = at.as_nanos() as f64 * 1e-6;
        let _ = writeln!(out, "{millis:10.1} ms: rule {}, window {window}", rule + 1);
    }
    Ok(out)
}

/// Returns a table with fewer actions: each rule has the action of the nearest rule in `kept`.
fn pruned(table: &Table, kept: &[usize]) -> Result<Table> {
    let rules = table.rules();
    let mut pruned = table.clone();
    for (number, rule) in rules.iter().enumerate() {
        let distance = |other: &usize| distance(rule, &rules[*other]);
        let nearest = kept.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        if let Some(nearest) = nearest {
            pruned = pruned.with_action(number, rules[*nearest].action)?;
        }
    }
    Ok(pruned)
}

/// Returns the distance of the middles of two rules, squared, on logarithmic axes.
fn distance(one: &Rule, other: &Rule) -> f64 {
    let middle = |rule: &Rule, axis: usize| {
        f64::midpoint(rule.domain.lower[axis].ln_1p(), rule.domain.upper[axis].ln_1p())
    };
    let axes = 0..one.domain.lower.len();
    axes.map(|axis| (middle(one, axis) - middle(other, axis)).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use rove_congestion::remy::{Action, Axis, Domain};

    use super::*;
    use crate::objective::Objective;
    use crate::terms::Terms;
    use crate::training_network::TrainingNetwork;
    use crate::workers::Workers;

    #[test]
    fn unused_rules_cost_nothing_and_a_path_begins_at_the_rule_of_a_new_flow() {
        let action = |increment| Action { multiple: 1.0, increment, intersend_ms: 0.5 };
        let [near, far] = Domain::WHOLE.split(Axis::RttRatio, 1_000.0);
        let rules = [(near, 2), (far, -2)];
        let rules = rules.map(|(domain, increment)| Rule { domain, action: action(increment) });
        let table = Table::new(Domain::WHOLE, rules.to_vec()).expect("two halves");
        let network = TrainingNetwork {
            packets_per_ms: 1.0,
            rtt_ms: 100.0,
            senders: 1,
            mean_on_ms: 1_000.0,
            mean_off_ms: 100.0,
            buffer_packets: None,
            loss: 0.0,
            typing: None,
        };
        let terms = Terms { objective: Objective::DEFAULT, seed: 1, length_ms: 10_000.0 };
        let (networks, workers) = ([network], Workers::Threads(1));
        let evaluator = Evaluator { networks: &networks, terms, workers: &workers };
        let said = text(&table, &evaluator).expect("a run");
        assert!(said.starts_with("1 of 2 rules are used: 1 100.0 %\nscore "), "{said}");
        assert!(said.contains(" ms: rule 1, window "), "{said}");
        let whole = evaluator.score(&table).expect("a run").score;
        let few = pruned(&table, &[0]).expect("a table");
        assert_eq!(few.rules()[1].action, action(2));
        assert!((evaluator.score(&few).expect("a run").score - whole).abs() < 1e-9);
    }
}
