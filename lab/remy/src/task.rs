//! Task: a run of a table on a network as a message to another process, and its answer.
//!
//! Messages are lines of JSON. Terms come first: the table, and all that the tasks after them have in common. Each task is answered by a
//! line. Numbers are written so that they read as the same number again: an answer is that of a thread, to the last bit.

use anyhow::{Result, anyhow, ensure};
use rove_congestion::remy::{Action, Table};
use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::terms::{Appraisal, Terms};
use crate::training_network::TrainingNetwork;

/// A line to a worker.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Message {
    /// The table of the tasks that follow, and the terms on which it runs.
    Terms(TermsMessage),
    /// A run to be done.
    Task(Task),
}

/// The terms that all tasks of an order share.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TermsMessage {
    /// The table, in its readable form.
    table: String,
    objective: String,
    seed: u64,
    length_ms: f64,
}

/// A run of the table, with other actions in some of its rules.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Task {
    /// The task's number, which its answer has too.
    pub(crate) task: usize,
    /// The network's number, from 0; it decides the run's chance.
    number: usize,
    #[serde(rename = "specimen")]
    network: TrainingNetwork,
    /// Numbers of rules, from 0, with the multiple, the increment and the time between packets (ms) that they have here.
    actions: Vec<(usize, f64, i32, f64)>,
}

/// The answer to a task.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    /// The number of the task.
    pub(crate) task: usize,
    /// The worth of the run.
    pub(crate) result: Result<Appraisal, Fault>,
}

impl TermsMessage {
    /// Returns the message of a table and of terms.
    pub(crate) fn new(terms: &Terms, table: &Table) -> Self {
        let Terms { objective, seed, length_ms } = terms;
        let (table, objective) = (table.to_readable(), objective.to_string());
        Self { table, objective, seed: *seed, length_ms: *length_ms }
    }

    /// Returns the terms and the table.
    ///
    /// # Errors
    ///
    /// Returns an error if there can be no such table or objective.
    pub(crate) fn read(&self) -> Result<(Terms, Table)> {
        let objective = self.objective.parse().map_err(|sentence: String| anyhow!(sentence))?;
        let terms = Terms { objective, seed: self.seed, length_ms: self.length_ms };
        Ok((terms, Table::from_readable(&self.table)?))
    }
}

impl Task {
    /// Returns the message of a run of `table`, whose boxes are those of `base`.
    pub(crate) fn new(
        task: usize,
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
        Self { task, number, network: *network, actions: actions.collect() }
    }

    /// Does the run.
    ///
    /// # Errors
    ///
    /// Returns an error if the table has no such rules, or they can have no such actions.
    pub(crate) fn run(&self, terms: &Terms, base: &Table) -> Result<Answer> {
        let mut table = base.clone();
        for (rule, multiple, increment, intersend_ms) in self.actions.iter().copied() {
            ensure!(rule < table.rules().len(), "the table has no rule {}", rule + 1);
            table = table.with_action(rule, Action { multiple, increment, intersend_ms })?;
        }
        let result = terms.appraise(&table, self.number, &self.network);
        Ok(Answer { task: self.task, result })
    }
}
