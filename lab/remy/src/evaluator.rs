//! Evaluator: computes the scores of tables on networks, with all processors.
//!
//! For each table, the senders are on at the same times, the same packets are lost, and random orders are the same.
//! Scores are added in the order of the networks, so that neither threads nor the order of tasks change the sum.

use rove_congestion::remy::{Memory, Table};
use rove_runs::parallel;

use crate::control::{Control, Ruled};
use crate::fault::Fault;
use crate::network::Run;
use crate::task::{Task, TermsMessage};
use crate::terms::{Terms, add};
use crate::training_network::TrainingNetwork;
use crate::workers::Workers;

/// Networks, the terms of the runs, and the processors for the runs.
#[derive(Clone, Debug)]
pub(crate) struct Evaluator<'a> {
    pub(crate) networks: &'a [TrainingNetwork],
    /// The terms on which tables run.
    pub(crate) terms: Terms,
    pub(crate) workers: &'a Workers,
}

/// The score of a table over all networks, and how it used its rules.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Evaluation {
    /// The sum of the scores over the networks.
    pub(crate) score: f64,
    /// How often each rule was followed.
    pub(crate) uses: Vec<u64>,
}

impl Evaluator<'_> {
    /// Returns the evaluation of each table. The rules of all tables must have the same domains.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if an evaluation panics, or if a score is not a number.
    pub(crate) fn scores(&self, tables: &[&Table]) -> Result<Vec<Evaluation>, Fault> {
        let Some(base) = tables.first() else { return Ok(Vec::new()) };
        let items: Vec<(usize, usize)> = (0..tables.len())
            .flat_map(|table| (0..self.networks.len()).map(move |network| (table, network)))
            .collect();
        let results = match self.workers {
            Workers::Threads(threads) => {
                let work = |(table, number): &(usize, usize)| {
                    self.terms.appraise(tables[*table], *number, &self.networks[*number])
                };
                parallel::map_on(*threads, &items, work, |_| ())
            }
            Workers::Pool(pool) => {
                let task = |(table, number): &(usize, usize)| {
                    Task::new(base, tables[*table], *number, &self.networks[*number])
                };
                let tasks: Vec<Task> = items.iter().map(task).collect();
                pool.run(&TermsMessage::new(&self.terms, base), &tasks, |_| Ok(()))
                    .map_err(|error| Fault::PoolLost { reason: format!("{error:#}") })?
            }
        };
        let mut evaluations: Vec<Evaluation> = (tables.iter())
            .map(|table| Evaluation { score: 0.0, uses: vec![0; table.rules().len()] })
            .collect();
        debug_assert_eq!(items.len(), results.len(), "each run has its result");
        for ((table, _), result) in items.iter().zip(results) {
            let appraisal = result?;
            let evaluation = &mut evaluations[*table];
            evaluation.score += appraisal.score;
            add(&mut evaluation.uses, &appraisal.uses);
        }
        Ok(evaluations)
    }

    /// Returns the evaluation of a table.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if an evaluation panics, or if a score is not a number.
    pub(crate) fn score(&self, table: &Table) -> Result<Evaluation, Fault> {
        Ok(self.scores(&[table])?.remove(0))
    }

    /// Returns the memories at which a rule of a table is followed. Threads of this process do the runs, because the
    /// memories are too many for messages, and only splits need them.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if an evaluation panics.
    pub(crate) fn memories(&self, table: &Table, rule: usize) -> Result<Vec<Memory>, Fault> {
        let mut memories = Vec::new();
        for run in self.run_all(|_| Ruled::new(table, Some(rule))) {
            let traced = run?.controls.into_iter().filter_map(|control| control.traced);
            memories.extend(traced.flat_map(|(_, memories)| memories));
        }
        Ok(memories)
    }

    /// Returns a run on each network with any kind of control. Threads of this process do the runs.
    pub(crate) fn run_all<C: Control + Send>(
        &self,
        control: impl Fn(usize) -> C + Sync,
    ) -> Vec<Result<Run<C>, Fault>> {
        let numbers: Vec<usize> = (0..self.networks.len()).collect();
        let work = |number: &usize| self.terms.run(*number, &self.networks[*number], &control);
        parallel::map_on(self.workers.threads(), &numbers, work, |_| ())
    }
}
