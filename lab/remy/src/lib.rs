//! `rove-lab remy`: searches for congestion controllers, which are tables of rules, and evaluates them.
//!
//! A `training_network` describes a network, and `network` simulates it: senders before a link, each with a `control`
//! (or a `baseline`). An `objective` scores a run's figures. `terms` are the conditions for comparing tables. The
//! `evaluator` runs tables on networks for the command `evaluate`. Its `workers` are threads, or processes that get
//! each `task`. A `prior` has assumptions about networks. With these, a `search` grows a table for the command `train`:
//! it tries actions of an `action_range`, splits rules by `bisection`, and saves a `checkpoint`. `tables` reads files.
//! `tests` compares published tables with their figures. `describe` and `surface` show a table, and `uses` the rules
//! that a prior needs. A `fault` is why a result is missing. `options` are the command line.

#![forbid(unsafe_code)]

use std::io::{self, Write};

use anyhow::Result;
use rove_runs::shown;

use self::options::Action;

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
mod options;
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

pub use options::RemyOptions;
pub use tables::parse as parse_table;

/// Runs the command of a command line for which [`RemyOptions::refusal`] returned `None`.
///
/// # Errors
///
/// Returns an error if a file cannot be read or written, or if an evaluation fails.
pub fn run(options: &RemyOptions, mut output: impl Write) -> Result<()> {
    match options.action {
        Action::Describe => {
            let table = tables::read(&options.tables[0])?;
            describe::describe(&table, options.out.as_deref(), &mut output)?;
            if options.prior.is_some() { evaluate::uses(&table, options, output) } else { Ok(()) }
        }
        Action::Convert => tables::write(&tables::read(&options.tables[0])?, options.out()),
        Action::Evaluate => evaluate::evaluate(options, output),
        Action::Train => train::train(options, shown::stderr()),
        Action::Worker => task::work(io::stdin().lock(), output),
    }
}
