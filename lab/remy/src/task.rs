//! Task: a message that asks another process for a run of a table on a network. The answer is the run's score.

use std::io::{BufRead, Write};

use anyhow::{Result, anyhow, ensure};
use rove_congestion::remy::{Action, Table};
use rove_runs::ray;
use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::terms::{Appraisal, Terms};
use crate::training_network::TrainingNetwork;

/// The terms and the table of all tasks in an order.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TermsMessage {
    /// The table of the tasks, in its readable form.
    table: String,
    objective: String,
    seed: u64,
    length_ms: f64,
}

/// A run of the order's table, with other actions in some of its rules.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Task {
    /// The network's number, from 0. It determines the run's random numbers.
    number: usize,
    #[serde(rename = "specimen")]
    network: TrainingNetwork,
    /// Rules with another action than the table's: number from 0, multiple, increment, and ms between packets.
    actions: Vec<(usize, f64, i32, f64)>,
}

impl TermsMessage {
    /// Creates the message for terms and a table.
    pub(crate) fn new(terms: &Terms, table: &Table) -> Self {
        let Terms { objective, seed, length_ms } = terms;
        let (table, objective) = (table.to_readable(), objective.to_string());
        Self { table, objective, seed: *seed, length_ms: *length_ms }
    }

    /// Returns the terms and the table.
    ///
    /// # Errors
    ///
    /// Returns an error if the message contains no valid table or objective.
    fn read(&self) -> Result<(Terms, Table)> {
        let objective = self.objective.parse().map_err(|sentence: String| anyhow!(sentence))?;
        let terms = Terms { objective, seed: self.seed, length_ms: self.length_ms };
        Ok((terms, Table::from_readable(&self.table)?))
    }
}

impl Task {
    /// Creates the message for a run of `table`. Its rules must have the same domains as the rules of `base`.
    pub(crate) fn new(
        base: &Table,
        table: &Table,
        number: usize,
        network: &TrainingNetwork,
    ) -> Self {
        let rules = base.rules().iter().zip(table.rules()).enumerate();
        debug_assert!(rules.clone().all(|(_, (base, rule))| base.domain == rule.domain));
        let changed = rules.filter(|(_, (base, rule))| base.action != rule.action);
        let actions = changed.map(|(number, (_, rule))| {
            let Action { multiple, increment, intersend_ms } = rule.action;
            (number, multiple, increment, intersend_ms)
        });
        Self { number, network: *network, actions: actions.collect() }
    }

    /// Does the run of this task. Returns the run's score.
    ///
    /// # Errors
    ///
    /// Returns an error if `base` lacks a rule, or if an action is not valid in a table.
    fn run(&self, terms: &Terms, base: &Table) -> Result<Result<Appraisal, Fault>> {
        let mut table = base.clone();
        for (rule, multiple, increment, intersend_ms) in self.actions.iter().copied() {
            ensure!(rule < table.rules().len(), "the table has no rule {}", rule + 1);
            table = table.with_action(rule, Action { multiple, increment, intersend_ms })?;
        }
        Ok(terms.appraise(&table, self.number, &self.network))
    }
}

/// Does the tasks that arrive on `input`, and writes the answers to `output`. Needs no files and no other workers.
///
/// # Errors
///
/// Returns an error if a line is no message or asks for an invalid run, or if an answer cannot be written.
pub(crate) fn work(input: impl BufRead, output: impl Write) -> Result<()> {
    let read = |terms: TermsMessage| terms.read();
    ray::work(input, output, read, |(terms, table), task: Task| task.run(terms, table))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objective::Objective;

    const NETWORK: TrainingNetwork = TrainingNetwork {
        packets_per_ms: 1.1,
        rtt_ms: 50.3,
        senders: 2,
        mean_on_ms: 1_000.7,
        mean_off_ms: 1_000.1,
        buffer_packets: Some(50),
        loss: 0.01,
        typing: None,
    };

    const TERMS: Terms =
        Terms { objective: Objective::DEFAULT, seed: u64::MAX - 1, length_ms: 5_000.3 };

    fn tables() -> [Table; 2] {
        let action = |multiple| Action { multiple, increment: 3, intersend_ms: 0.7 };
        [0.9, 0.7].map(|multiple| Table::uniform(action(multiple)).expect("one rule"))
    }

    fn answers(input: &str) -> Result<Vec<Result<Appraisal, Fault>>> {
        let mut output = Vec::new();
        work(input.as_bytes(), &mut output)?;
        let answers = serde_json::Deserializer::from_slice(&output).into_iter();
        let result = |answer: serde_json::Value| serde_json::from_value(answer["result"].clone());
        Ok(answers.map(|answer| answer.and_then(result).expect("an answer")).collect())
    }

    #[test]
    fn answers_are_those_of_this_process_to_the_last_bit() {
        let [base, other] = tables();
        let runs = [(&base, 0), (&other, 0), (&base, 3)];
        let tasks = runs.map(|(table, number)| Task::new(&base, table, number, &NETWORK));
        let order = ray::order(&TermsMessage::new(&TERMS, &base), &tasks).expect("lines");
        let expected = runs.map(|(table, number)| TERMS.appraise(table, number, &NETWORK));
        assert_eq!(answers(&order).expect("answers"), expected);
        assert_ne!(expected[0], expected[1]);
        assert_ne!(expected[0], expected[2]);
    }

    #[test]
    fn terms_and_tasks_that_cannot_be_end_the_work() {
        let [base, _] = tables();
        let task = Task::new(&base, &base, 0, &NETWORK);
        let order = ray::order(&TermsMessage::new(&TERMS, &base), &[task]).expect("lines");
        for (input, told) in [
            (order.replace("[]", "[[5,1.0,1,1.0]]"), "has no rule 6"),
            (order.replace("rove-remy-1", "other"), "line 1 of standard input"),
            (order.replace("delta=1", "delta=x"), "delta is a number"),
        ] {
            let error = answers(&input).expect_err(told);
            assert!(format!("{error:#}").contains(told), "{error:#}");
        }
    }
}
