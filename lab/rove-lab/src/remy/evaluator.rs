//! Evaluator: the worth of tables on specimens, on all processors.
//!
//! Every table meets the same times on and off, the same losses and the same random orders. Sums are in the order of the specimens,
//! so that neither the number of threads nor the way that tasks are spread changes anything.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rove_congestion::remy::{Memory, Table};
use rove_units::Seed;
use serde::{Deserialize, Serialize};

use crate::parallel;
use crate::remy::control::{Control, Ruled};
use crate::remy::fault::Fault;
use crate::remy::network::{self, Run};
use crate::remy::objective::Objective;
use crate::remy::specimen::Specimen;
use crate::remy::task::{Message, Task, TermsMessage};
use crate::remy::workers::Workers;

/// Terms on which tables are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// The worth of throughput and delay.
    pub(crate) objective: Objective,
    /// Decides all chance.
    pub(crate) seed: u64,
    /// How long each specimen runs, in ms.
    pub(crate) length_ms: f64,
}

/// The worth of a table on one specimen.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Appraisal {
    /// The mean over the senders.
    pub(crate) score: f64,
    /// How often each rule was followed.
    pub(crate) uses: Vec<u64>,
}

impl Terms {
    /// Returns the run of any control on a specimen, whose number decides its chance.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if it dies.
    pub(crate) fn run<C: Control>(
        &self,
        number: usize,
        specimen: &Specimen,
        control: impl Fn(usize) -> C,
    ) -> Result<Run<C>, Fault> {
        let chance = Seed::new(self.seed).stream("remy.specimen").at(number as u64);
        let seed = Seed::new(chance.bits());
        let run = || network::run(specimen, seed, self.length_ms, control, &mut ());
        catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            let reason = text.unwrap_or_else(|| "it says nothing".to_owned());
            Fault::WorkerDied { specimen: number + 1, reason }
        })
    }

    /// Returns the worth of a table on a specimen, whose number decides its chance.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if the run dies, or the score is no number.
    pub(crate) fn appraise(
        &self,
        table: &Table,
        number: usize,
        specimen: &Specimen,
    ) -> Result<Appraisal, Fault> {
        let run = self.run(number, specimen, |_| Ruled::new(table, None))?;
        let score = self.objective.score(&run.outcomes, &run.keys);
        if !score.is_finite() {
            let objective = self.objective.to_string();
            return Err(Fault::NoScore { specimen: number + 1, objective });
        }
        let mut uses = vec![0; table.rules().len()];
        for control in run.controls {
            add(&mut uses, &control.uses);
        }
        Ok(Appraisal { score, uses })
    }
}

/// Specimens, terms, and the processors that do the runs.
#[derive(Clone, Debug)]
pub(crate) struct Evaluator<'a> {
    /// The networks.
    pub(crate) specimens: &'a [Specimen],
    /// The terms on which tables run.
    pub(crate) terms: Terms,
    /// The processors.
    pub(crate) workers: &'a Workers,
}

/// The worth of a table on all specimens, and its use.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Evaluation {
    /// The sum over the specimens.
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
            .flat_map(|table| (0..self.specimens.len()).map(move |specimen| (table, specimen)))
            .collect();
        let results = match self.workers {
            Workers::Threads(threads) => {
                let work = |(table, number): &(usize, usize)| {
                    self.terms.appraise(tables[*table], *number, &self.specimens[*number])
                };
                parallel::map_on(*threads, &items, work, |_| ())
            }
            Workers::Pool(pool) => {
                let mut messages = vec![Message::Terms(TermsMessage::new(&self.terms, base))];
                messages.extend(items.iter().enumerate().map(|(task, (table, number))| {
                    let specimen = &self.specimens[*number];
                    Message::Task(Task::new(task, base, tables[*table], *number, specimen))
                }));
                pool.run(&messages)?
            }
        };
        let mut evaluations: Vec<Evaluation> = (tables.iter())
            .map(|table| Evaluation { score: 0.0, uses: vec![0; table.rules().len()] })
            .collect();
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

    /// Returns the run of any control on each specimen, all on threads of this process.
    pub(crate) fn run_all<C: Control + Send>(
        &self,
        control: impl Fn(usize) -> C + Sync,
    ) -> Vec<Result<Run<C>, Fault>> {
        let numbers: Vec<usize> = (0..self.specimens.len()).collect();
        let work = |number: &usize| self.terms.run(*number, &self.specimens[*number], &control);
        parallel::map_on(self.workers.threads(), &numbers, work, |_| ())
    }
}

fn add(sums: &mut [u64], uses: &[u64]) {
    sums.iter_mut().zip(uses).for_each(|(sum, uses)| *sum += uses);
}
