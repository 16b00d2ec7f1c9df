//! Terms: the conditions under which tables are compared, and the score of a run.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rove_congestion::remy::Table;
use rove_units::Seed;
use serde::{Deserialize, Serialize};

use crate::control::{Control, Ruled};
use crate::fault::Fault;
use crate::network::{self, Run};
use crate::objective::Objective;
use crate::training_network::TrainingNetwork;

/// The conditions under which tables are compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// The objective that computes scores.
    pub(crate) objective: Objective,
    /// The seed of all random numbers.
    pub(crate) seed: u64,
    /// The simulated time of each network, in ms.
    pub(crate) length_ms: f64,
}

/// The score of a table on a network, and how the table used its rules.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Appraisal {
    /// The mean of the senders' utilities, minus the cost of the keys' delay.
    pub(crate) score: f64,
    /// How often each rule was followed.
    pub(crate) uses: Vec<u64>,
}

impl Terms {
    /// Simulates a network with any kind of control. The network's number determines the run's random numbers.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if the run panics.
    pub(crate) fn run<C: Control>(
        &self,
        number: usize,
        network: &TrainingNetwork,
        control: impl Fn(usize) -> C,
    ) -> Result<Run<C>, Fault> {
        let chance = Seed::new(self.seed).stream("remy.specimen").at(number as u64);
        let seed = Seed::new(chance.bits());
        let run = || network::run(network, seed, self.length_ms, control, &mut ());
        catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            let reason = text.unwrap_or_else(|| "it says nothing".to_owned());
            Fault::WorkerDied { network: number + 1, reason }
        })
    }

    /// Returns a table's score on a network. The network's number determines the run's random numbers.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if the run panics, or if the score is not a number.
    pub(crate) fn appraise(
        &self,
        table: &Table,
        number: usize,
        network: &TrainingNetwork,
    ) -> Result<Appraisal, Fault> {
        let run = self.run(number, network, |_| Ruled::new(table, None))?;
        let score = self.objective.score(&run.outcomes, &run.keys);
        if !score.is_finite() {
            let objective = self.objective.to_string();
            return Err(Fault::NoScore { network: number + 1, objective });
        }
        let mut uses = vec![0; table.rules().len()];
        for control in run.controls {
            add(&mut uses, &control.uses);
        }
        Ok(Appraisal { score, uses })
    }
}

/// Adds the uses of each rule to the sums over several runs.
pub(crate) fn add(sums: &mut [u64], uses: &[u64]) {
    debug_assert_eq!(sums.len(), uses.len(), "both are of the same rules");
    sums.iter_mut().zip(uses).for_each(|(sum, uses)| *sum += uses);
}
