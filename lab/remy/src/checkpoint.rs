//! Checkpoint: the state of a search in a file, from which the search can continue.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use rove_runs::files::write_whole;
use serde::{Deserialize, Serialize};

use crate::search::State;

/// Everything that a search depends on, and its present state.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Checkpoint {
    /// The text of the prior's file.
    pub(crate) prior: String,
    /// The objective, as text.
    pub(crate) objective: String,
    pub(crate) seed: u64,
    /// The name and the text of the table with which the search began. `None` if it began with a single rule.
    pub(crate) begin: Option<[String; 2]>,
    /// Seconds that the search has taken until now.
    pub(crate) seconds: f64,
    /// The state from which the search continues.
    pub(crate) state: State,
}

/// Returns the path of the checkpoint for a table's file.
pub(crate) fn file_of(table: &Path) -> PathBuf {
    table.with_extension("search.json")
}

impl Checkpoint {
    /// Reads a checkpoint from its file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or is damaged.
    pub(crate) fn read(file: &Path) -> Result<Self> {
        let shown = file.display();
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {shown}"))?;
        let damaged = || format!("{shown} is damaged; delete it to begin the search again");
        serde_json::from_str(&text).map_err(|error| anyhow!(error)).with_context(damaged)
    }

    /// Writes the checkpoint completely, or leaves the file as it was.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub(crate) fn write(&self, file: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self).context("cannot write a checkpoint")?;
        write_whole(file, &(text + "\n"))
    }
}

#[cfg(test)]
mod tests {
    use rove_congestion::remy::{Action, Table};
    use rove_units::Seed;

    use super::*;

    #[test]
    fn every_score_is_read_as_the_number_that_was_written() {
        let action = Action { multiple: 1.0, increment: 1, intersend_ms: 3.0 };
        let mut checkpoint = Checkpoint {
            prior: String::new(),
            objective: String::new(),
            seed: 1,
            begin: None,
            seconds: 0.0,
            state: State::from(Table::uniform(action).expect("one rule")),
        };
        for draw in 0..2_000 {
            let unit = |number| Seed::new(draw).stream("score").at(number).unit();
            let state = &mut checkpoint.state;
            (state.backup_score, state.held_out) = (Some(-200.0 * unit(0)), Some(-unit(1)));
            let text = serde_json::to_string(&checkpoint).expect("JSON");
            let read: Checkpoint = serde_json::from_str(&text).expect("a checkpoint");
            assert_eq!(read, checkpoint);
        }
        // A file with an unknown field is damaged, or comes from another version.
        let text = serde_json::to_string(&checkpoint).expect("JSON");
        for (begin, count) in [("{\"prior\"", 1), ("{\"grown\"", 1), ("{\"generations\"", 2)] {
            assert_eq!(text.matches(begin).count(), count, "{text}");
            let strange = text.replacen(begin, &begin.replacen('{', "{\"x\":1,", 1), 1);
            assert!(serde_json::from_str::<Checkpoint>(&strange).is_err(), "{begin}");
        }
    }
}
