//! `rove-lab remy`: congestion controllers found by search.
//!
//! A `training_network` describes a network, and `network` simulates it: senders before one link, each with a `control`
//! (or a `baseline`). An `objective` says what a run's figures are worth, and `terms` are all that tables are compared
//! on. The `evaluator` does many runs of tables and networks; `evaluate` is its command. Its `workers` are threads, or
//! processes that get each `task`. A `prior` has the assumptions for which a `search` grows a table; `train` is its
//! command. Its actions are of an `action_range`, `bisection` splits its rules, and a `checkpoint` keeps it. `tables`
//! are files, and `tests` compare published ones with their figures. `describe` and `surface` show a table to people,
//! and `uses` the part that a prior needs. A `fault` is why there is no result.

#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Result;
use rove_runs::shown;

mod action_range;
mod baseline;
mod bisection;
mod checkpoint;
mod control;
mod describe;
mod evaluate;
mod evaluator;
mod fault;
mod network;
mod objective;
mod prior;
mod search;
mod surface;
mod tables;
mod task;
mod terms;
#[cfg(test)]
mod tests;
mod train;
mod training_network;
mod uses;
mod workers;

pub use evaluate::EvaluateOptions;
pub use objective::Objective;
pub use tables::parse as parse_table;
pub use train::TrainOptions;

/// The command, with its options.
#[derive(Clone, Debug)]
pub enum RemyCall {
    /// Print a table's rules, and maybe draw them.
    Describe {
        /// The table.
        table: PathBuf,
        /// The file of the picture.
        picture: Option<PathBuf>,
        /// The prior whose networks use the table, with the terms.
        uses: Option<EvaluateOptions>,
    },
    /// Write a table in another form.
    Convert {
        /// The table.
        table: PathBuf,
        /// The file to be written.
        out: PathBuf,
    },
    /// Say what tables are worth.
    Evaluate(EvaluateOptions),
    /// Search for a table.
    Train(TrainOptions),
    /// Do the tasks that standard input brings, as a worker.
    Work,
}

/// Does the command.
///
/// # Errors
///
/// Returns an error if a file cannot be used, an evaluation fails, or `output` cannot be written.
pub fn run(call: &RemyCall, output: impl Write) -> Result<()> {
    match call {
        RemyCall::Describe { table, picture, uses } => {
            let (table, mut output) = (tables::read(table)?, output);
            describe::describe(&table, picture.as_deref(), &mut output)?;
            uses.as_ref().map_or(Ok(()), |options| evaluate::uses(&table, options, output))
        }
        RemyCall::Convert { table, out } => tables::write(&tables::read(table)?, out),
        RemyCall::Evaluate(options) => evaluate::evaluate(options, output),
        RemyCall::Train(options) => train::train(options, shown::stderr()),
        RemyCall::Work => task::work(io::stdin().lock(), output),
    }
}
