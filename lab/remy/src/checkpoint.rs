//! Checkpoint: a search on disk, from which it goes on.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use rove_congestion::remy::Table;
use rove_runs::files::write_whole;
use serde::{Deserialize, Serialize};

use crate::search::{Grown, State};

/// Everything that a search depends on, and where it is.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Checkpoint {
    /// The prior's text.
    pub(crate) prior: String,
    /// The objective.
    pub(crate) objective: String,
    /// The seed.
    pub(crate) seed: u64,
    /// Time that the search has taken, in s.
    pub(crate) seconds: f64,
    generation: u32,
    epoch: u32,
    steps: u64,
    backup_score: Option<f64>,
    long_score: Option<f64>,
    held_out: Option<f64>,
    grown: Saved,
    backup: Saved,
}

/// A table and the generations of its rules.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    generations: Vec<u32>,
    table: String,
}

impl Saved {
    fn of(grown: &Grown) -> Self {
        Self { generations: grown.generations.clone(), table: grown.table.to_readable() }
    }

    fn grown(&self) -> Result<Grown> {
        let table = Table::from_readable(&self.table)?;
        if table.rules().len() != self.generations.len() {
            bail!("it has {} generations of {} rules", self.generations.len(), table.rules().len());
        }
        Ok(Grown { table, generations: self.generations.clone() })
    }
}

/// Returns the file of a table's checkpoint.
pub(crate) fn file_of(table: &Path) -> PathBuf {
    table.with_extension("search.json")
}

impl Checkpoint {
    /// Returns what a search continues from.
    pub(crate) fn new(
        prior: &str,
        objective: &str,
        seed: u64,
        seconds: f64,
        state: &State,
    ) -> Self {
        Self {
            prior: prior.to_owned(),
            objective: objective.to_owned(),
            seed,
            seconds,
            generation: state.generation,
            epoch: state.epoch,
            steps: state.steps,
            backup_score: state.backup_score,
            long_score: state.long_score,
            held_out: state.held_out,
            grown: Saved::of(&state.grown),
            backup: Saved::of(&state.backup),
        }
    }

    /// Returns the state of the search.
    ///
    /// # Errors
    ///
    /// Returns an error if a table in it cannot be used.
    pub(crate) fn state(&self) -> Result<State> {
        Ok(State {
            grown: self.grown.grown()?,
            backup: self.backup.grown()?,
            backup_score: self.backup_score,
            long_score: self.long_score,
            held_out: self.held_out,
            generation: self.generation,
            epoch: self.epoch,
            steps: self.steps,
        })
    }

    /// Reads a checkpoint.
    ///
    /// # Errors
    ///
    /// Returns an error if there is none, or it is damaged.
    pub(crate) fn read(file: &Path) -> Result<Self> {
        let shown = file.display();
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {shown}"))?;
        let damaged = || format!("{shown} is damaged; delete it to begin the search again");
        let checkpoint: Self =
            serde_json::from_str(&text).map_err(|error| anyhow!(error)).with_context(damaged)?;
        checkpoint.state().with_context(damaged)?;
        Ok(checkpoint)
    }

    /// Writes it so that it is there whole or not at all.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be written.
    pub(crate) fn write(&self, file: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self).context("cannot write a checkpoint")?;
        write_whole(file, &(text + "\n"))
    }
}

#[cfg(test)]
mod tests {
    use rove_congestion::remy::Action;
    use rove_units::Seed;

    use super::*;

    #[test]
    fn every_score_is_read_as_the_number_that_was_written() {
        let action = Action { multiple: 1.0, increment: 1, intersend_ms: 3.0 };
        let mut state = State::from(Table::uniform(action).expect("one rule"));
        for draw in 0..2_000 {
            let unit = |number| Seed::new(draw).stream("score").at(number).unit();
            (state.backup_score, state.held_out) = (Some(-200.0 * unit(0)), Some(-unit(1)));
            let text =
                serde_json::to_string(&Checkpoint::new("", "", 1, 0.0, &state)).expect("JSON");
            let read: Checkpoint = serde_json::from_str(&text).expect("a checkpoint");
            assert_eq!(read.state().expect("a state"), state);
        }
    }
}
