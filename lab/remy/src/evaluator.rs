//! Evaluator: the worth of tables on networks, on all processors.
//!
//! Every table meets the same times on and off, the same losses and the same random orders. Sums are in the order of the networks,
//! so that neither the number of threads nor the way that tasks are spread changes anything.

use rove_congestion::remy::{Memory, Table};
use rove_runs::parallel;

use crate::control::{Control, Ruled};
use crate::fault::Fault;
use crate::network::Run;
use crate::task::{Task, TermsMessage};
use crate::terms::{Terms, add};
use crate::training_network::TrainingNetwork;
use crate::workers::Workers;

/// Networks, terms, and the processors that do the runs.
#[derive(Clone, Debug)]
pub(crate) struct Evaluator<'a> {
    /// The networks.
    pub(crate) networks: &'a [TrainingNetwork],
    /// The terms on which tables run.
    pub(crate) terms: Terms,
    /// The processors.
    pub(crate) workers: &'a Workers,
}

/// The worth of a table on all networks, and its use.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Evaluation {
    /// The sum over the networks.
    pub(crate) score: f64,
    /// How often each rule was followed.
    pub(crate) uses: Vec<u64>,
}

impl Evaluator<'_> {
    /// Returns the worth of each table; the boxes of all are the same.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if an evaluation dies, or a score is no number.
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

    /// Returns the worth of one table.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if an evaluation dies, or a score is no number.
    pub(crate) fn score(&self, table: &Table) -> Result<Evaluation, Fault> {
        Ok(self.scores(&[table])?.remove(0))
    }

    /// Returns the memories at which a rule of a table is followed. Its runs are on threads of this process: memories are many, and asked
    /// for before a split only.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if an evaluation dies.
    pub(crate) fn memories(&self, table: &Table, rule: usize) -> Result<Vec<Memory>, Fault> {
        let mut memories = Vec::new();
        for run in self.run_all(|_| Ruled::new(table, Some(rule))) {
            let traced = run?.controls.into_iter().filter_map(|control| control.traced);
            memories.extend(traced.flat_map(|(_, memories)| memories));
        }
        Ok(memories)
    }

    /// Returns the run of any control on each network, all on threads of this process.
    pub(crate) fn run_all<C: Control + Send>(
        &self,
        control: impl Fn(usize) -> C + Sync,
    ) -> Vec<Result<Run<C>, Fault>> {
        let numbers: Vec<usize> = (0..self.networks.len()).collect();
        let work = |number: &usize| self.terms.run(*number, &self.networks[*number], &control);
        parallel::map_on(self.workers.threads(), &numbers, work, |_| ())
    }
}
