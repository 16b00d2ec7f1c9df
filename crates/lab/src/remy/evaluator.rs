//! Evaluator: what tables are worth on specimens, on all processors.
//!
//! Every table meets the same times on and off, the same losses and the same random orders. Sums are in the order of the specimens,
//! so that the number of threads changes nothing.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rove_congestion::remy::{Memory, Table};
use rove_units::Seed;

use crate::parallel;
use crate::remy::control::{Control, Ruled};
use crate::remy::fault::Fault;
use crate::remy::network::{self, Run};
use crate::remy::objective::Objective;
use crate::remy::specimen::Specimen;

/// Conditions under which tables are compared.
#[derive(Clone, Debug)]
pub(crate) struct Evaluator<'a> {
    /// The networks.
    pub(crate) specimens: &'a [Specimen],
    /// The worth of throughput and delay.
    pub(crate) objective: Objective,
    /// Decides all chance.
    pub(crate) seed: Seed,
    /// How long each specimen runs, in ms.
    pub(crate) length_ms: f64,
    /// How many threads work at once.
    pub(crate) threads: usize,
}

/// The worth of a table, and its use.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Evaluation {
    /// The sum over the specimens.
    pub(crate) score: f64,
    /// How often each rule was followed.
    pub(crate) uses: Vec<u64>,
}

impl Evaluator<'_> {
    /// Returns the worth of each table.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if an evaluation dies, or a score is no number.
    pub(crate) fn scores(&self, tables: &[&Table]) -> Result<Vec<Evaluation>, Fault> {
        let items: Vec<(usize, usize)> = (0..tables.len())
            .flat_map(|table| (0..self.specimens.len()).map(move |specimen| (table, specimen)))
            .collect();
        let work = |(table, specimen): &(usize, usize)| self.evaluate(tables[*table], *specimen);
        let results = parallel::map_on(self.threads, &items, work, |_| ());
        let mut evaluations: Vec<Evaluation> = (tables.iter())
            .map(|table| Evaluation { score: 0.0, uses: vec![0; table.rules().len()] })
            .collect();
        for ((table, _), result) in items.iter().zip(results) {
            let (score, uses) = result?;
            let evaluation = &mut evaluations[*table];
            evaluation.score += score;
            for (sum, uses) in evaluation.uses.iter_mut().zip(uses) {
                *sum += uses;
            }
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

    /// Returns the memories at which a rule of a table is followed.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if an evaluation dies.
    pub(crate) fn memories(&self, table: &Table, rule: usize) -> Result<Vec<Memory>, Fault> {
        let specimens: Vec<usize> = (0..self.specimens.len()).collect();
        let work = |specimen: &usize| self.run(table, *specimen, Some(rule));
        let mut memories = Vec::new();
        for run in parallel::map_on(self.threads, &specimens, work, |_| ()) {
            let traced = run?.controls.into_iter().filter_map(|control| control.traced);
            memories.extend(traced.flat_map(|(_, memories)| memories));
        }
        Ok(memories)
    }

    /// Returns the run of a table on one specimen.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if it dies.
    pub(crate) fn run<'t>(
        &self,
        table: &'t Table,
        specimen: usize,
        traced: Option<usize>,
    ) -> Result<Run<Ruled<'t>>, Fault> {
        self.run_with(specimen, |_| Ruled::new(table, traced))
    }

    /// Returns the run of any control on one specimen.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if it dies.
    pub(crate) fn run_with<C: Control>(
        &self,
        specimen: usize,
        control: impl Fn(usize) -> C,
    ) -> Result<Run<C>, Fault> {
        let seed = Seed::new(self.seed.stream("remy.specimen").at(specimen as u64).bits());
        let network = &self.specimens[specimen];
        let run = || network::run(network, seed, self.length_ms, control, &mut ());
        catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            let reason = text.unwrap_or_else(|| "it says nothing".to_owned());
            Fault::WorkerDied { specimen: specimen + 1, reason }
        })
    }

    fn evaluate(&self, table: &Table, specimen: usize) -> Result<(f64, Vec<u64>), Fault> {
        let run = self.run(table, specimen, None)?;
        let score = self.objective.score(&run.outcomes);
        if !score.is_finite() {
            let objective = self.objective.to_string();
            return Err(Fault::NoScore { specimen: specimen + 1, objective });
        }
        let mut uses = vec![0; table.rules().len()];
        for control in run.controls {
            for (sum, uses) in uses.iter_mut().zip(control.uses) {
                *sum += uses;
            }
        }
        Ok((score, uses))
    }
}
